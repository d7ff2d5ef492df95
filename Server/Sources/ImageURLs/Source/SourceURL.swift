import Foundation

/// The address of a source in the only form that it is used in: parsed so strictly that no other program can understand it
/// as that of another host or path.
///
/// The scheme and host are in small letters, a port that is the scheme's own is left out, and a fragment is dropped. Refused
/// are user information; hosts that are percent-encoded, not ASCII (write `xn--`), end with a dot, or are numbers other than
/// a plain address; backslashes, spaces and control characters anywhere; `.` and `..` in the path, also percent-encoded.
///
/// In paths of buckets and folders (all schemes but `http` and `https`) nothing is percent-encoded that need not be, so that each
/// object has one address, and rules see its slashes.
public struct SourceURL: Sendable, Hashable, CustomStringConvertible {
    /// In small letters: `http`, `https`, `s3`, `local`...
    public let scheme: String
    /// In small letters for `http` and `https`; with brackets if it is an IPv6 address; the bucket of a store's; empty for
    /// `local`.
    public let host: String
    /// `nil` if it is the scheme's own.
    public let port: Int?
    /// With its leading slash, percent-encoded.
    public let path: String
    /// Without its question mark.
    public let query: String?

    /// - Throws: the reason why the text is no such address.
    public init(_ text: String) throws(SourceRefusal) {
        guard text.utf8.count <= ImageJob.Bounds.path else { throw .tooLong }
        guard text.utf8.allSatisfy(Self.isAllowed) else { throw .character }
        guard let mark = text.range(of: "://"), AddressText.isScheme(text[..<mark.lowerBound]) else { throw .relative }
        scheme = text[..<mark.lowerBound].lowercased()
        let rest = text[mark.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        guard end == rest.endIndex || rest[end] != "#" else { throw .fragment }
        (host, port) = try Self.authority(rest[..<end], scheme: scheme)

        let target = rest[end...].prefix { $0 != "#" }
        let mid = target.firstIndex(of: "?") ?? target.endIndex
        let written = mid == target.startIndex ? "/" : String(target[..<mid])
        query = mid == target.endIndex ? nil : String(target[target.index(after: mid)...])
        try Self.checkEncoding(of: written)
        path = scheme == "http" || scheme == "https" ? written : Self.plainPath(written)
        if let query { try Self.checkEncoding(of: query) }
        guard !Self.hasDots(path) else { throw .dots }
    }

    /// The whole address.
    public var description: String {
        "\(scheme)://\(host)\(port.map { ":\($0)" } ?? "")\(path)\(query.map { "?\($0)" } ?? "")"
    }

    /// Whether the scheme names a host in the network, rather than a bucket or a folder.
    var isWeb: Bool { scheme == "http" || scheme == "https" }

    static func defaultPort(of scheme: String) -> Int? {
        switch scheme {
        case "http": 80
        case "https": 443
        default: nil
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\\") && !AddressText.isUnwise(byte)
    }

    private static func authority(_ text: Substring, scheme: String) throws(SourceRefusal) -> (String, Int?) {
        guard !text.contains("@") else { throw .credentials }
        guard scheme == "http" || scheme == "https" else {
            guard scheme == "local" ? text.isEmpty : isName(text) else { throw .host }
            return (String(text), nil)
        }
        var host = text
        var port: Substring?
        let names = text.lastIndex(of: "]").map { text[$0...] } ?? text
        if let colon = names.firstIndex(of: ":") {
            (host, port) = (text[..<colon], text[text.index(after: colon)...])
        }
        return (try self.host(host), try self.port(port, scheme: scheme))
    }

    private static func port(_ text: Substring?, scheme: String) throws(SourceRefusal) -> Int? {
        guard let text else { return nil }
        guard text.utf8.count <= 5, let first = text.utf8.first, first != UInt8(ascii: "0"),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = Int(text),
            port <= 65_535
        else { throw .port }
        return port == defaultPort(of: scheme) ? nil : port
    }

    private static func host(_ text: Substring) throws(SourceRefusal) -> String {
        if text.hasPrefix("[") {
            guard text.hasSuffix("]"), let address = address(text.dropFirst().dropLast()) else { throw .host }
            return "[\(address)]"
        }
        guard isName(text) else { throw .host }
        let name = text.lowercased()
        let last = name.split(separator: ".").last ?? ""
        // Resolvers take a name that ends with a number for an IPv4 address, in octal, hexadecimal or with fewer parts too.
        let digits = last.hasPrefix("0x") ? last.dropFirst(2).allSatisfy(\.isHexDigit) : last.allSatisfy(\.isNumber)
        guard !digits || isPlainIPv4(name) else { throw .host }
        return name
    }

    /// Whether it is made of labels of letters, digits, hyphens and underscores, none of them empty.
    private static func isName(_ text: Substring) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { AddressText.isAlphanumeric($0) || "-_".utf8.contains($0) }
        }
    }

    private static func isPlainIPv4(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { part in UInt8(part).map { "\($0)" == part } ?? false }
    }

    /// The IPv6 address in its shortest text.
    private static func address(_ text: Substring) -> String? {
        guard text.utf8.count <= 45, text.utf8.allSatisfy({ AddressText.hexDigit($0) != nil || ":.".utf8.contains($0) })
        else { return nil }
        var address = in6_addr()
        guard inet_pton(AF_INET6, String(text), &address) == 1 else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Each `%` has two digits behind it, and none is the end of a C string.
    static func checkEncoding(of text: String) throws(SourceRefusal) {
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else { continue }
            guard let high = rest.next().flatMap(AddressText.hexDigit),
                let low = rest.next().flatMap(AddressText.hexDigit), high | low != 0
            else { throw .character }
        }
    }

    /// The path of a bucket or folder, whose slashes are the same ones however they are encoded: in it, that is encoded alone which no
    /// path may hold.
    static func plainPath(_ path: String) -> String {
        let allowed = "-._~!$&'()*+,;=:@/".utf8
        let bytes = AddressText.bytes(decoding: path) ?? Array(path.utf8)
        return AddressText.encoded(bytes) { AddressText.isAlphanumeric($0) || allowed.contains($0) }
    }

    /// Whether a part of the path is `.` or `..`, also with a parameter (`..;a`), which some servers leave out. Percent-encoded
    /// dots, slashes, backslashes and semicolons count as such, for servers differ in when they decode them.
    static func hasDots(_ path: String) -> Bool {
        let decoded = path.replacingOccurrences(of: "%2e", with: ".", options: .caseInsensitive)
            .replacingOccurrences(of: "%2f", with: "/", options: .caseInsensitive)
            .replacingOccurrences(of: "%5c", with: "/", options: .caseInsensitive)
            .replacingOccurrences(of: "%3b", with: ";", options: .caseInsensitive)
        return decoded.split(separator: "/").contains { part in
            let name = part.prefix { $0 != ";" }
            return name == "." || name == ".."
        }
    }
}
