import Foundation
import Glibc
import Halcyon

/// The writers to standard output and standard error.
enum Output {
    /// Writes a line to standard output; a closed pipe is not an error.
    static func line(_ text: String) {
        write(text + "\n", to: FileHandle.standardOutput)
    }

    /// Writes an error as a single line, of which a terminal obeys nothing: a source's name may hold anything.
    static func error(_ text: String) {
        write("halcyon: " + TerminalText.clean(text) + "\n", to: FileHandle.standardError)
    }

    static func write(_ text: String, to handle: FileHandle) {
        try? handle.write(contentsOf: Data(text.utf8))
    }

    /// Writes an image to standard output. Unlike a line, it must arrive.
    ///
    /// - Throws: `FailureReport` if the write fails.
    static func writeImage(_ data: Data) throws {
        do {
            try FileHandle.standardOutput.write(contentsOf: data)
        } catch {
            throw FailureReport(
                code: "processing", message: "standard output cannot be written: \(error.localizedDescription)")
        }
    }

    /// Makes a write to a pipe without a reader an error instead of the end of the process, so that pending writes to
    /// the cache still complete.
    static func outliveReaders() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// Encodes a value as one line of JSON, its keys in alphabetical order.
    static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(value)) ?? Data("{}".utf8)
        return String(decoding: data, as: UTF8.self)
    }
}

/// An error as the tool reports it.
struct FailureReport: Encodable, Sendable, Error, CustomStringConvertible {
    let code: String
    let message: String

    var description: String { "\(message) (\(code))" }

    init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: any Error) {
        switch error {
        case let error as ImagePipelineError: self.init(code: error.code, message: error.reason)
        case let error as CodecError: self.init(code: error.code, message: "\(error)")
        case let error as FailureReport: self = error
        case is CancellationError: self.init(code: "cancelled", message: "cancelled")
        default: self.init(code: "processing", message: "\(error)")
        }
    }
}
