import Foundation

/// The directives of the `Cache-Control` fields, with lower-case names.
///
/// The first of two equal directives counts. An argument may be quoted, and a comma inside the quotes divides nothing.
/// A quote that is not closed, or closed in the middle of something, is a sign like any other: it must not hide the
/// directives after it, `no-store` among them. Such a list `isDamaged`: what it permits is not to be relied on.
struct CacheControl {
    private var directives: [String: String] = [:]
    /// Whether a quote stood where none may, so that nobody knows which directives were meant.
    private(set) var isDamaged = false

    /// - Parameter lines: the values of the fields, each read by itself.
    init(_ lines: [String]) {
        for line in lines {
            var parser = Parser(rest: line.utf8[...])
            while let (name, value) = parser.next() {
                guard !name.isEmpty, directives[name] == nil else { continue }
                directives[name] = value
            }
            if parser.isDamaged { isDamaged = true }
        }
    }

    func contains(_ name: String) -> Bool { directives[name] != nil }

    /// A directive's argument, empty where it has none; nil without the directive.
    func value(_ name: String) -> String? { directives[name] }

    /// A directive's seconds: nil without the directive, 0 for a value that is no number, as what cannot be read must
    /// not make an answer fresh.
    func seconds(_ name: String) -> Int? {
        directives[name].map { Self.seconds(digits: $0) ?? 0 }
    }

    /// A number of seconds, nil for what is none. 68 years stand for all that is longer.
    static func seconds(digits: String) -> Int? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return min(Int(digits) ?? longest, longest)
    }

    private static let longest = 1 << 31

    /// Reads one directive after the other. By bytes: a comma is one whatever follows it.
    private struct Parser {
        var rest: Substring.UTF8View
        /// Whether a quote was read as a sign like any other.
        private(set) var isDamaged = false

        init(rest: Substring.UTF8View) {
            self.rest = rest
        }

        private static let (comma, equals, quote) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\""))

        /// The next directive, its name empty where there is nothing between two commas; nil at the end.
        mutating func next() -> (name: String, value: String)? {
            guard !rest.isEmpty else { return nil }
            let name = Self.text(take { $0 == Self.comma || $0 == Self.equals }).lowercased()
            if name.utf8.contains(Self.quote) { isDamaged = true }
            guard rest.popFirst() == Self.equals else { return (name, "") }
            if let value = quotedString() { return (name, value) }
            let value = Self.text(take { $0 == Self.comma })
            rest = rest.dropFirst()
            if value.utf8.contains(Self.quote) { isDamaged = true }
            return (name, value.trimmingCharacters(in: CharacterSet(charactersIn: "\"")))
        }

        /// What stands in quotes up to the comma or the end, which are taken too; nil, and nothing taken, when it is
        /// not of that form.
        private mutating func quotedString() -> String? {
            var ahead = rest.drop(while: Self.isBlank)
            guard ahead.popFirst() == Self.quote else { return nil }
            var bytes: [UInt8] = []
            while let byte = ahead.popFirst() {
                if byte == Self.quote {
                    ahead = ahead.drop(while: Self.isBlank)
                    guard ahead.isEmpty || ahead.popFirst() == Self.comma else { return nil }
                    rest = ahead
                    return String(decoding: bytes, as: UTF8.self)
                }
                guard let sign = byte == UInt8(ascii: "\\") ? ahead.popFirst() : byte else { return nil }
                bytes.append(sign)
            }
            return nil
        }

        private mutating func take(until isEnd: (UInt8) -> Bool) -> Substring.UTF8View {
            let taken = rest.prefix { !isEnd($0) }
            rest = rest[taken.endIndex...]
            return taken
        }

        private static func text(_ bytes: Substring.UTF8View) -> String {
            String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces)
        }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    }
}
