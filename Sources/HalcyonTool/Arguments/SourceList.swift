import ArgumentParser
import Foundation
import Halcyon

/// The sources of a command line.
enum SourceList {
    /// A source: its text as it was written, without the user of a URL, and the parsed value.
    struct Entry: Sendable {
        let text: String
        let source: ImageSource
    }

    /// Parses the arguments. A `-` is replaced by the lines of standard input, without blank lines and lines that
    /// begin with `#`.
    ///
    /// - Throws: `ValidationError` if there is more than one `-`.
    static func read(_ arguments: [String]) throws -> [Entry] {
        guard arguments.count(where: { $0 == "-" }) <= 1 else {
            throw ValidationError("Standard input can be read once: give one '-'.")
        }
        let texts = arguments.flatMap { argument -> [String] in
            guard argument == "-" else { return [argument] }
            var lines: [String] = []
            while let line = readLine() {
                let text = line.trimmingCharacters(in: .whitespaces)
                if !text.isEmpty, !text.hasPrefix("#") { lines.append(text) }
            }
            return lines
        }
        return texts.map { Entry(text: withoutUser($0), source: source($0)) }
    }

    /// Returns the source as reports name it, without a user and a password.
    static func withoutUser(_ text: String) -> String { ImageKey(source: text).source }

    /// Returns a URL source if the text has a scheme, otherwise a file source.
    static func source(_ text: String) -> ImageSource {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let isURL =
            text.dropFirst(scheme.count).hasPrefix("://")
            || scheme.lowercased() == "data"
                && text.dropFirst(scheme.count).hasPrefix(":")
        if isURL, !scheme.isEmpty { return ImageSource(string: text) }
        return text.isEmpty ? .malformed("", reason: "the source is empty") : .file(URL(filePath: text))
    }
}
