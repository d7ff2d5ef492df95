/// Which answers are taken for what was asked for, by status and media type.
public struct AcceptedContent: Sendable, Hashable {
    /// Statuses of a success; 200 to 299 by default. 206 counts only where a part was asked for, 304 where the request had
    /// a validator.
    public var statuses: Set<Int>
    /// Media types such as `image/png`, or `image/*` for all of a kind; nil, the default, is any. An answer without a type
    /// is refused where there are some.
    public var types: [String]?

    public init(statuses: Set<Int> = Set(200..<300), types: [String]? = nil) {
        self.statuses = statuses
        self.types = types
    }

    /// Whether a media type, parameters and all, is among those.
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
