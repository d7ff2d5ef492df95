import ArgumentParser
import Halcyon

/// The parts of a processor's value, separated by colons, which are taken one by one.
///
/// A part is recognized by its form, so that the order is free; numbers are distinguished by their order.
struct ProcessorParts {
    typealias ImageReader = @Sendable (String) throws -> Image

    private var parts: [Substring]
    private let images: ImageReader

    /// - Parameter value: The text after the name and its `=`; nil if there is none.
    init(_ value: Substring?, images: @escaping ImageReader) {
        parts = value?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        self.images = images
    }

    /// The parts that were not taken.
    var rest: [Substring] { parts }

    /// Takes the first part that `read` accepts; nil if there is none.
    mutating func take<Value>(_ read: (Substring) -> Value?) -> Value? {
        for (index, part) in parts.enumerated() {
            guard let value = read(part) else { continue }
            parts.remove(at: index)
            return value
        }
        return nil
    }

    /// Takes the part `KEY=VALUE`; nil if there is none.
    mutating func take<Value>(_ key: String, _ read: (Substring) -> Value?) -> Value? {
        take { part in part.hasPrefix(key + "=") ? read(part.dropFirst(key.count + 1)) : nil }
    }

    /// Takes the part that equals a word, and returns whether there is one.
    mutating func take(word: String) -> Bool {
        take { $0 == word ? true : nil } ?? false
    }

    /// Takes the first part that `read` accepts.
    ///
    /// - Throws: `ValidationError` if there is none.
    mutating func require<Value>(_ what: String, _ read: (Substring) -> Value?) throws -> Value {
        if let value = take(read) { return value }
        throw ValidationError(parts.first.map { "'\($0)' is no \(what)" } ?? "\(what) is missing")
    }

    /// Requires at least one part.
    ///
    /// - Throws: `ValidationError` if there is none.
    func requireAny(_ what: String) throws {
        guard parts.isEmpty else { return }
        throw ValidationError("\(what) is missing")
    }

    /// Takes all remaining parts as the name of a file, which may contain colons, and reads its image.
    ///
    /// - Returns: The image, and the value of the text after the last `@` if `suffix` accepts it; that text is not
    ///   part of the name then.
    mutating func takeImage<Value>(_ suffix: (Substring) -> Value?) throws -> (image: Image, suffix: Value?) {
        var name = parts.joined(separator: ":")[...]
        parts = []
        var value: Value?
        if let at = name.lastIndex(of: "@") {
            value = suffix(name[name.index(after: at)...])
            if value != nil { name = name[..<at] }
        }
        guard !name.isEmpty else { throw ValidationError("FILE is missing") }
        return (try images(String(name)), value)
    }
}
