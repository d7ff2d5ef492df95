import Foundation

/// The directives of the `Cache-Control` fields, with lower-case names.
///
/// The first of two directives with the same name counts. An argument may be quoted, and a comma inside the quotes does
/// not separate directives. A quote that is not closed, or is closed in the middle of an argument, counts as an
/// ordinary character: it must not hide the directives after it, such as `no-store`. Such a list `isDamaged`:
/// permissions that it grants cannot be relied on.
struct CacheControl {
    private var directives: [String: String] = [:]
    /// Whether a quote was in an invalid place, so that the intended directives are unknown.
    private(set) var isDamaged = false

    /// Parses the fields.
    ///
    /// - Parameter lines: The values of the fields, each of which is parsed separately.
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

    /// Returns a directive's argument, empty if it has none; nil without the directive.
    func value(_ name: String) -> String? { directives[name] }

    /// Returns a directive's seconds: nil without the directive, 0 for a value that is not a number, as an invalid
    /// value must not make a response fresh.
    func seconds(_ name: String) -> Int? {
        directives[name].map { Self.seconds(digits: $0) ?? 0 }
    }

    /// Parses a number of seconds; nil if the text is not a number. Longer times are limited to 68 years.
    static func seconds(digits: String) -> Int? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return min(Int(digits) ?? longest, longest)
    }

    private static let longest = 1 << 31

    /// A parser that returns one directive after the other. It works on bytes, because a comma combined with a
    /// character that follows it would not be seen as a comma.
    private struct Parser {
        var rest: Substring.UTF8View
        /// Whether a quote was read as an ordinary character.
        private(set) var isDamaged = false

        init(rest: Substring.UTF8View) {
            self.rest = rest
        }

        private static let (comma, equals, quote) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\""))

        /// Returns the next directive, with an empty name if there is nothing between two commas; nil at the end.
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

        /// Returns the content of a quoted string that ends at a comma or at the end, and consumes it with the comma;
        /// if the text does not have that form, returns nil and consumes nothing.
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

/// The directives of a request's own header fields for the caches on its way, including Halcyon's own (RFC 9111, 5.2.1).
package struct RequestCacheControl: Sendable, Equatable {
    /// Whether a stored response must be revalidated before use. Also set by `Pragma` if there is no `Cache-Control` (5.4).
    package let noCache: Bool
    /// Whether the response must not be stored.
    package let noStore: Bool
    /// Whether only a stored response is acceptable.
    package let onlyIfCached: Bool
    /// The largest acceptable age in seconds.
    package let maxAge: Int?
    /// The shortest time in seconds for which the response must remain fresh.
    package let minFresh: Int?
    /// The longest acceptable time in seconds past its freshness.
    package let maxStale: Int?
    /// The longest acceptable time in seconds past its freshness if the server responds with an error, or not at all
    /// (RFC 5861, 4).
    package let staleIfError: Int?

    package init(_ headers: HTTPHeaders) {
        let lines = headers.values(of: "Cache-Control")
        let control = CacheControl(lines)
        noCache =
            control.contains("no-cache")
            || lines.isEmpty && CacheControl(headers.values(of: "Pragma")).contains("no-cache")
        noStore = control.contains("no-store")
        onlyIfCached = control.contains("only-if-cached")
        maxAge = control.seconds("max-age")
        minFresh = control.seconds("min-fresh")
        // Without a number, any staleness is acceptable.
        maxStale = control.value("max-stale") == "" ? Int.max : control.seconds("max-stale")
        staleIfError = control.seconds("stale-if-error")
    }

    /// The directives of a request without such fields.
    package static let none = RequestCacheControl(HTTPHeaders())

    /// Returns whether fields may have directives: those of most requests do not, and need no parsing.
    package static func isIn(_ headers: HTTPHeaders) -> Bool {
        headers.contains("Cache-Control") || headers.contains("Pragma")
    }

    /// Whether the request limits which freshness it accepts.
    package var isStrict: Bool { noCache || maxAge != nil || minFresh != nil }
}
