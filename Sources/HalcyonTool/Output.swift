import Foundation
import Glibc

/// Where the tool's words go.
enum Output {
    /// A line for who reads along; one that has gone away is no reason to fail.
    static func line(_ text: String) {
        write(text + "\n", to: FileHandle.standardOutput)
    }

    /// An error is one line, whatever the source is called.
    static func error(_ text: String) {
        let line = String(text.map { $0.isNewline ? " " : $0 })
        write("halcyon: " + line + "\n", to: FileHandle.standardError)
    }

    static func write(_ text: String, to handle: FileHandle) {
        try? handle.write(contentsOf: Data(text.utf8))
    }

    /// An image on standard output: unlike a line, it must arrive.
    ///
    /// - Throws: `FailureReport`.
    static func writeImage(_ data: Data) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: data)
        } catch {
            throw FailureReport(
                code: "processing", message: "standard output cannot be written: \(error.localizedDescription)")
        }
    }

    /// Makes a write to a pipe without a reader an error, not the end of the program: what is to be stored still is.
    static func outliveReaders() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// One JSON object as a line, its keys in alphabetical order.
    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("{}".utf8)
        return String(decoding: data, as: UTF8.self)
    }
}
