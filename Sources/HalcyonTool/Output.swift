import Foundation

/// Where the tool's words go.
enum Output {
    static func line(_ text: String) {
        write(text + "\n", to: FileHandle.standardOutput)
    }

    /// An error is one line, whatever the source is called.
    static func error(_ text: String) {
        let line = String(text.map { $0.isNewline ? " " : $0 })
        write("halcyon: " + line + "\n", to: FileHandle.standardError)
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
