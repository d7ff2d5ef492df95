/// The responses that count as success, by status and media type.
public struct AcceptedContent: Sendable, Hashable {
    /// The statuses of a success; 200 to 299 by default. 206 counts only if a part was requested, 304 only if the
    /// request had a validator.
    public var statuses: Set<Int>
    /// The accepted media types, such as `image/png`, or `image/*` for all of a kind; nil, the default, accepts any. If
    /// types are given, a response without a type is refused.
    public var types: [String]?

    public init(statuses: Set<Int> = Set(200..<300), types: [String]? = nil) {
        self.statuses = statuses
        self.types = types
    }

    /// Returns whether a media type, with or without parameters, is accepted.
    public func accepts(type: String?) -> Bool {
        guard let types else { return true }
        guard let type = type.map(Self.plain), type.contains("/") else { return false }
        return types.contains { entry in
            let entry = Self.plain(entry)
            if entry == "*/*" { return true }
            return entry.hasSuffix("/*") ? type.hasPrefix(entry.dropLast()) : type == entry
        }
    }

    private static func plain(_ type: String) -> String {
        type.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
    }
}
