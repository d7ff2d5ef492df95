import ArgumentParser
import Halcyon

/// The parts of a processor's value, between colons, taken one by one.
///
/// A part is told by what it looks like, numbers among themselves by their order.
struct ProcessorParts {
    typealias ImageReader = @Sendable (String) throws -> Image

    private var parts: [Substring]
    private let images: ImageReader

    /// - Parameter value: what follows the name and its `=`; nil where there is none.
    init(_ value: Substring?, images: @escaping ImageReader) {
        parts = value?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        self.images = images
    }

    /// Parts that nobody took.
    var rest: [Substring] { parts }

    /// The first part that can be read so; nil where there is none.
    mutating func take<Value>(_ read: (Substring) -> Value?) -> Value? {
        for (index, part) in parts.enumerated() {
            guard let value = read(part) else { continue }
            parts.remove(at: index)
            return value
        }
        return nil
    }

    /// The part `KEY=VALUE`; nil where there is none.
    mutating func take<Value>(_ key: String, _ read: (Substring) -> Value?) -> Value? {
        take { part in part.hasPrefix(key + "=") ? read(part.dropFirst(key.count + 1)) : nil }
    }

    /// Whether the part is there that is this word.
    mutating func take(word: String) -> Bool {
        take { $0 == word ? true : nil } ?? false
    }

    /// The first part that can be read so.
    ///
    /// - Throws: `ValidationError` where there is none.
    mutating func require<Value>(_ what: String, _ read: (Substring) -> Value?) throws -> Value {
        if let value = take(read) { return value }
        throw ValidationError(parts.first.map { "'\($0)' is no \(what)" } ?? "\(what) is missing")
    }

    /// - Throws: `ValidationError` where there is no part.
    func requireAny(_ what: String) throws {
        guard parts.isEmpty else { return }
        throw ValidationError("\(what) is missing")
    }

    /// The image of the file that all that is left names, colons in its name and all.
    ///
    /// - Returns: the image, and what `suffix` makes of the text behind the last `@`, no part of the name then.
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
