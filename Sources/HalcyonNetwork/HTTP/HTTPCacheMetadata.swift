import Foundation
import HalcyonSystem

/// What HTTP says about keeping one answer, as a private cache reads it (RFC 9111).
///
/// Kept beside the stored bytes. The header fields that matter are stored as they came, since a 304 replaces some of
/// them and the rest must be read again; everything else is derived from them. `s-maxage` and `private` say
/// nothing of its freshness here, but whether an answer to one user's credential is for all (`isShared`).
public struct HTTPCacheMetadata: Sendable, Equatable {
    /// Whether an answer may be used as it is.
    public enum State: Sendable, Hashable {
        case fresh
        /// To be revalidated first.
        case stale
    }

    /// The fields it is made from: those of `keptFields` that the answer had.
    public let fields: HTTPHeaders
    /// When the answer was received, by this machine's clock.
    public let responseDate: Date
    /// For each field that `Vary` names, in lower case, what the request had; nil for none. Of a field that tells users
    /// apart there is a hash, as it may be a secret.
    public let varyValues: [String: String?]

    /// To be revalidated before every use, whatever the fields say.
    let isDistrusted: Bool
    /// Whether `Vary` names a field that tells users apart, or everything. Stored, as the fields that do are a setting.
    let variesWithUser: Bool

    /// Explicitly fresh until then; nil when the server says nothing about it, and then the cache's own time decides.
    public let freshUntil: Date?
    /// Never to be served stale, not even without a network.
    public let mustRevalidate: Bool
    /// To be revalidated before every use: the server says so, or `requiringRevalidation` was asked for. A `no-cache` that
    /// names fields counts as one that names none.
    public let noCache: Bool
    /// Not to be stored. `must-understand` takes it back (RFC 9111, 5.2.2.3), for the statuses that are stored at all.
    public let noStore: Bool
    /// Not to be revalidated while it is fresh, even when the user reloads.
    public let isImmutable: Bool
    /// For so many seconds past its freshness it may be used while it is revalidated behind (RFC 5861, 3); nil where the
    /// server does not say so.
    public let staleWhileRevalidate: Int?
    /// For so many seconds past its freshness it may be used where the server fails (RFC 5861, 4); nil where the server
    /// does not say so.
    public let staleIfError: Int?
    /// `Vary: *`: no other request is known to get the same answer.
    public let variesOnEverything: Bool

    /// Whether the server said that it is for one user (5.2.2.7).
    public let isPrivate: Bool
    /// Whether an answer to a request with a credential may answer those of others: it is `public`, or has an `s-maxage` of
    /// at least a second (3.5), is not `private`, and does not vary with what tells users apart.
    public let isShared: Bool

    /// Whether it may be used stale, when there is no network or while it is revalidated.
    public var mayBeServedStale: Bool { !mustRevalidate && !noCache && !variesOnEverything }

    public var etag: String? { fields["ETag"] }
    public var lastModified: String? { fields["Last-Modified"] }
    public var contentType: String? { fields["Content-Type"] }
    /// Whether the server said how long the answer is fresh.
    public var hasExplicitFreshness: Bool { freshUntil != nil }

    static let keptFields = [
        "Cache-Control", "Expires", "Date", "Age", "ETag", "Last-Modified", "Vary", "Content-Type",
    ]

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - requestHeaders: what was sent, for the fields that `Vary` names.
    ///   - credentials: which fields tell users apart.
    ///   - now: when the answer was received.
    public init(
        _ head: HTTPResponseHead, requestHeaders: HTTPHeaders, credentials: CredentialFields = .standard, now: Date
    ) {
        var fields = HTTPHeaders()
        Self.copyFields(of: head, to: &fields)
        self.init(
            fields: fields, responseDate: now,
            varyValues: VaryValue.values(Self.varyNames(fields), requestHeaders, credentials),
            variesWithUser: Self.variesWithUser(fields, credentials))
    }

    init(
        fields: HTTPHeaders, responseDate: Date, varyValues: [String: String?], isDistrusted: Bool = false,
        variesWithUser: Bool
    ) {
        self.fields = fields
        self.responseDate = responseDate
        self.varyValues = varyValues
        self.isDistrusted = isDistrusted
        self.variesWithUser = variesWithUser
        let control = CacheControl(fields.values(of: "Cache-Control"))
        noStore = control.contains("no-store") && !control.contains("must-understand")
        noCache = isDistrusted || control.contains("no-cache")
        mustRevalidate = control.contains("must-revalidate")
        isImmutable = control.contains("immutable")
        staleWhileRevalidate = control.seconds("stale-while-revalidate")
        staleIfError = control.seconds("stale-if-error")
        variesOnEverything = Self.varyNames(fields).contains("*")
        isPrivate = control.contains("private")
        let isOpen = control.contains("public") || control.seconds("s-maxage") ?? 0 > 0
        isShared = isOpen && !control.isDamaged && !isPrivate && !noStore && !variesWithUser
        freshUntil = Self.freshUntil(fields, control, responseDate: responseDate)
    }

    /// Whether the answer may be used without asking. Without explicit freshness it is fresh here: the cache's own time
    /// to live decides then.
    public func state(at date: Date) -> State {
        if noCache || variesOnEverything { return .stale }
        guard let freshUntil else { return .fresh }
        return date < freshUntil ? .fresh : .stale
    }

    /// How old the answer is, in seconds (RFC 9111, 4.2.3); negative before it was received.
    public func age(at date: Date) -> TimeInterval {
        date.timeIntervalSince(responseDate) + Self.ageOnArrival(fields, responseDate: responseDate)
    }

    /// Whether a 304 speaks of this answer: its validators, where it has any, are this one's (RFC 9111, 4.3.4).
    public func isConfirmed(by head: HTTPResponseHead) -> Bool {
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        if let tag = head.headers["ETag"] {
            if let etag { return opaque(tag) == opaque(etag) }
            // A strong one that is not known names another representation; a weak one says nothing of this.
            if !tag.hasPrefix("W/") { return false }
        }
        if let date = head.headers["Last-Modified"], let lastModified { return date == lastModified }
        return true
    }

    /// The fields that ask whether it is still good; empty when the server gave no validator that can be sent back.
    public var conditionalHeaders: HTTPHeaders {
        func sendable(_ value: String?) -> String? {
            value.flatMap { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? nil : $0 }
        }
        var headers = HTTPHeaders()
        headers["If-None-Match"] = sendable(etag)
        headers["If-Modified-Since"] = sendable(lastModified)
        return headers
    }

    /// The same answer, to be revalidated before every use as with `no-cache`; for one whose freshness does not count
    /// for the URL that was asked for, as behind a temporary redirect.
    public func requiringRevalidation() -> HTTPCacheMetadata {
        HTTPCacheMetadata(
            fields: fields, responseDate: responseDate, varyValues: varyValues, isDistrusted: true,
            variesWithUser: variesWithUser)
    }

    /// Whether a request with these fields gets this answer, by what `Vary` names.
    public func matches(requestHeaders: HTTPHeaders) -> Bool {
        guard !variesOnEverything else { return false }
        return varyValues.allSatisfy { name, value in VaryValue.isSame(requestHeaders.combined(name), as: value) }
    }

    /// This answer after a 304 has confirmed it: the fields that came replace the old ones, and its age begins anew.
    /// What `requiringRevalidation` asked for is gone, as the 304 may have come another way.
    ///
    /// - Parameter requestHeaders: what was sent to revalidate, for a `Vary` that has changed; nil keeps what is stored.
    public func merging(
        notModified head: HTTPResponseHead, requestHeaders: HTTPHeaders? = nil,
        credentials: CredentialFields = .standard, now: Date
    ) -> HTTPCacheMetadata {
        var merged = fields
        // They tell how old the former answer was.
        merged.remove("Age")
        merged.remove("Date")
        Self.copyFields(of: head, to: &merged)
        let values =
            requestHeaders.map { VaryValue.values(Self.varyNames(merged), $0, credentials) } ?? varyValues
        return HTTPCacheMetadata(
            fields: merged, responseDate: now, varyValues: values,
            variesWithUser: Self.variesWithUser(merged, credentials))
    }

    /// The kept fields that the answer has take the place of those that are there.
    private static func copyFields(of head: HTTPResponseHead, to fields: inout HTTPHeaders) {
        for name in keptFields {
            guard let value = head.headers.combined(name) else { continue }
            fields[name] = value
        }
        // Line by line, as a line may be damaged, and must not damage the next.
        let lines = head.headers.values(of: "Cache-Control")
        guard lines.count > 1 else { return }
        fields.remove("Cache-Control")
        for line in lines { fields.append("Cache-Control", line) }
    }

    /// In lower case; `*` for what is no name, as nobody knows what it varies with.
    private static func varyNames(_ fields: HTTPHeaders) -> [String] {
        guard let vary = fields["Vary"] else { return [] }
        return vary.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            .filter { !$0.isEmpty }.map { HTTPHeaders.isName($0) ? $0 : "*" }
    }

    static func variesWithUser(_ fields: HTTPHeaders, _ credentials: CredentialFields) -> Bool {
        varyNames(fields).contains { $0 == "*" || credentials.contains($0) }
    }

    private static func freshUntil(_ fields: HTTPHeaders, _ control: CacheControl, responseDate: Date) -> Date? {
        let lifetime: TimeInterval
        if let seconds = control.seconds("max-age") {
            lifetime = TimeInterval(seconds)
        } else if let text = fields["Expires"] {
            // "0", "-1" and anything else that is no date mean: expired already.
            let sent = dateSent(fields, responseDate: responseDate)
            let expires = HTTPDate.parse(text, now: responseDate) ?? sent
            lifetime = max(0, expires.timeIntervalSince(sent))
        } else {
            return nil
        }
        return responseDate.addingTimeInterval(lifetime - ageOnArrival(fields, responseDate: responseDate))
    }

    private static func dateSent(_ fields: HTTPHeaders, responseDate: Date) -> Date {
        fields["Date"].flatMap { HTTPDate.parse($0, now: responseDate) } ?? responseDate
    }

    /// By the caches on its way, or by the clocks.
    private static func ageOnArrival(_ fields: HTTPHeaders, responseDate: Date) -> TimeInterval {
        let sent = dateSent(fields, responseDate: responseDate)
        let told = fields["Age"].flatMap { $0.split(separator: ",").first }.flatMap {
            CacheControl.seconds(digits: $0.trimmingCharacters(in: .whitespaces))
        }
        return max(TimeInterval(told ?? 0), responseDate.timeIntervalSince(sent), 0)
    }
}

/// A request's value of a field that `Vary` names, as it is kept: a value that tells users apart is a hash with a salt of its
/// own, since it may be a secret and goes to disk.
private enum VaryValue {
    /// Begins what is a hash: no field can have it.
    private static let mark: Character = "\0"

    static func values(
        _ names: [String], _ headers: HTTPHeaders, _ credentials: CredentialFields
    ) -> [String: String?] {
        let values = names.map { name in
            let value = headers.combined(name)
            return (name, credentials.contains(name) ? value.map { hashed($0, KeyedHash.newKey()) } : value)
        }
        return Dictionary(values) { first, _ in first }
    }

    static func isSame(_ value: String?, as kept: String?) -> Bool {
        guard let kept, kept.first == mark else { return value == kept }
        let salt = Array(kept.utf8.dropFirst().prefix(2 * KeyedHash.keyLength))
        return value.map { hashed($0, salt: salt) } == kept
    }

    private static func hashed(_ value: String, _ salt: [UInt8]) -> String {
        hashed(value, salt: Array(hexadecimal(salt).utf8))
    }

    /// The mark, the salt's digits, the hash's.
    private static func hashed(_ value: String, salt: [UInt8]) -> String {
        let hash = KeyedHash(of: Array(value.utf8), key: salt)
        return "\(mark)\(String(decoding: salt, as: UTF8.self))\(hexadecimal(hash.bytes))"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
