import Foundation

/// The sources that a server reads, asked for each URL and again for each redirect.
///
/// A rule is the beginning of an address, as imgproxy's `ALLOWED_SOURCES`: a scheme, a host and the beginning of a path. `*`
/// is any text within a host, or within one part of a path. Unlike a comparison of texts, the host is compared as a whole and
/// with its port: `http://good.com` allows neither `http://good.com.evil.org` nor `http://good.com:8080`, and
/// `https://*.good.com/` no `https://evil.org?.good.com/`. `:*` allows any port.
///
/// The path is compared as text: `https://good.com/img` allows `/img-private` too, so rules should end with a slash. A rule
/// with a scheme alone (`s3://`) allows all of it. In rules for buckets and folders it does not matter how the path is
/// percent-encoded, nor whether it is: `s3://photos/my folder/` and `s3://photos/my%20folder/` are the same; `%2A` is a star, not
/// any text, and `%3F` a question mark (a query is not possible). Rules say nothing on the addresses that names resolve to; that is the
/// downloader's business.
public struct SourceRules: Sendable, Hashable {
    private let schemes: Set<String>
    private let base: Base?
    private let rules: [Rule]

    private struct Base: Sendable, Hashable {
        let text: String
        let url: SourceURL
    }

    /// - Parameters:
    ///   - allowed: the rules; without any, all sources with an allowed scheme are read.
    ///   - baseURL: stands before each source that does not begin with it. `nil` by default.
    ///   - schemes: in small letters; `http` and `https` by default. `file` is never among them: use `local`, which has a
    ///     root.
    /// - Throws: ``ConfigurationError`` for a rule or base that is no address.
    public init(
        allowed: [String] = [], baseURL: String? = nil, schemes: Set<String> = ["http", "https"]
    ) throws(ConfigurationError) {
        guard !schemes.contains("file"), schemes.allSatisfy({ AddressText.isScheme($0) && $0 == $0.lowercased() })
        else {
            throw ConfigurationError(setting: "schemes", reason: "'file' and texts that are no scheme are not possible")
        }
        self.schemes = schemes
        var rules: [Rule] = []
        for text in allowed { rules.append(try Rule(text)) }
        self.rules = rules
        base = try baseURL.map { text throws(ConfigurationError) in
            do throws(SourceRefusal) { return Base(text: text, url: try SourceURL(text)) } catch {
                throw ConfigurationError(setting: "base URL \(text)", reason: error.description)
            }
        }
    }

    /// The address of a job's source, with the base URL before it.
    ///
    /// - Throws: ``ImageURLError/source(_:)``.
    public func resolve(_ source: String) throws(ImageURLError) -> SourceURL {
        guard let base else { return try check(source) }
        let url = try check(source.hasPrefix(base.text) ? source : base.text + source)
        // A source such as `.evil.org/a` behind a base without a slash would become a part of the host.
        guard url.scheme == base.url.scheme, url.host == base.url.host, url.port == base.url.port else {
            throw .source(.notAllowed)
        }
        return url
    }

    /// An address that is complete: that of a redirect.
    ///
    /// - Throws: ``ImageURLError/source(_:)``.
    public func check(_ address: String) throws(ImageURLError) -> SourceURL {
        let url: SourceURL
        do { url = try SourceURL(address) } catch { throw .source(error) }
        guard schemes.contains(url.scheme) else { throw .source(.scheme) }
        guard rules.isEmpty || rules.contains(where: { $0.allows(url) }) else { throw .source(.notAllowed) }
        return url
    }
}

/// The beginning of an address, with `*` for parts of it.
private struct Rule: Sendable, Hashable {
    private enum Port: Sendable, Hashable { case any, only(Int?) }

    private let scheme: String
    /// Empty for all hosts.
    private let host: Pattern
    private let anyHost: Bool
    private let port: Port
    private let parts: [Pattern]

    init(_ text: String) throws(ConfigurationError) {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        func failure(_ reason: String) -> ConfigurationError {
            ConfigurationError(setting: "allowed source '\(text)'", reason: reason)
        }
        guard let mark = trimmed.range(of: "://"), AddressText.isScheme(trimmed[..<mark.lowerBound]) else {
            throw failure("it has no scheme")
        }
        scheme = trimmed[..<mark.lowerBound].lowercased()
        let rest = trimmed[mark.upperBound...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<end]
        let names = authority.lastIndex(of: "]").map { authority[$0...] } ?? authority
        if let colon = names.firstIndex(of: ":") {
            let digits = authority[authority.index(after: colon)...]
            authority = authority[..<colon]
            if digits == "*" {
                port = .any
            } else {
                guard let number = Int(digits), (1...65_535).contains(number) else {
                    throw failure("its port is not valid")
                }
                port = .only(number == SourceURL.defaultPort(of: scheme) ? nil : number)
            }
        } else {
            port = .only(nil)
        }
        let isName = authority.utf8.allSatisfy { AddressText.isAlphanumeric($0) || "-_.*[]:".utf8.contains($0) }
        guard isName else { throw failure("its host is not valid") }
        anyHost = authority.isEmpty
        let isWeb = scheme == "http" || scheme == "https"
        host = Pattern(isWeb ? authority.lowercased() : String(authority))
        var path = String(rest[end...])
        guard !SourceURL.hasDots(path) else { throw failure("its path has '.' or '..'") }
        if !isWeb {
            guard !path.contains("?") else { throw failure("it has a query") }
            do { try SourceURL.checkEncoding(of: path) } catch { throw failure("its percent-encoding is not valid") }
            path = path.replacingOccurrences(of: "%2f", with: "/", options: .caseInsensitive)
        }
        parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { part in
            // Stars that are encoded are none of the pattern's.
            Pattern(part) { isWeb ? $0 : SourceURL.plainPath($0) }
        }
    }

    func allows(_ url: SourceURL) -> Bool {
        guard url.scheme == scheme, anyHost || host.matches(url.host) else { return false }
        if case .only(let number) = port, !(anyHost && number == nil), url.port != number { return false }
        // A `*` in the last part of the path stops at the query as it does at a slash.
        let target = url.query.map { url.path + "?" + $0 } ?? url.path
        let given = target.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard given.count >= parts.count, let last = parts.last else { return parts.isEmpty }
        let whole = zip(parts.dropLast(), given).allSatisfy { $0.matches($1) }
        return whole && last.begins(given[parts.count - 1])
    }
}

/// A text with `*` for any text without `?`.
private struct Pattern: Sendable, Hashable {
    private let pieces: [String]

    /// - Parameter form: returns the form of a piece that texts have it in; the piece itself by default.
    init(_ text: some StringProtocol, form: (String) -> String = { $0 }) {
        pieces = text.split(separator: "*", omittingEmptySubsequences: false).map { form(String($0)) }
    }

    /// Whether the text is the pattern's.
    func matches(_ text: some StringProtocol) -> Bool {
        guard pieces.count > 1 else { return text == pieces[0] }
        guard let rest = remainder(of: Substring(text), pieces.dropLast()), let last = pieces.last else { return false }
        return rest.hasSuffix(last) && !rest.dropLast(last.count).contains("?")
    }

    /// Whether the beginning of the text is the pattern's.
    func begins(_ text: some StringProtocol) -> Bool {
        remainder(of: Substring(text), pieces[...]) != nil
    }

    /// The text behind the pieces, each of them as early as possible: if they fit at all, they fit there.
    private func remainder(of text: Substring, _ pieces: ArraySlice<String>) -> Substring? {
        guard let first = pieces.first, text.hasPrefix(first) else { return nil }
        var rest = text.dropFirst(first.count)
        for piece in pieces.dropFirst() where !piece.isEmpty {
            guard let found = rest.range(of: piece), !rest[..<found.lowerBound].contains("?") else { return nil }
            rest = rest[found.upperBound...]
        }
        return rest
    }
}
