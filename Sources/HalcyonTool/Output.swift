import Foundation

/// Where the tool's words go.
enum Output {
    static func line(_ text: String) {
        write(text + "\n", to: FileHandle.standardOutput)
    }

    static func error(_ text: String) {
        write("halcyon: " + text + "\n", to: FileHandle.standardError)
    }

    static func write(_ text: String, to handle: FileHandle) {
        write(Data(text.utf8), to: handle)
    }

    static func write(_ data: Data, to handle: FileHandle) {
        // A reader that has gone away is no reason to fail.
        try? handle.write(contentsOf: data)
    }

    /// One JSON object as a line, its keys in alphabetical order.
    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("{}".utf8)
        return String(decoding: data, as: UTF8.self)
    }
}
