import Foundation
import HalcyonSystem

/// The HTTP caching rules for one response, as they apply to a private cache (RFC 9111).
///
/// It is stored beside the body. The relevant header fields are stored as received, since a 304 replaces some of them
/// and the others must be parsed again; everything else is derived from them. `s-maxage` and `private` do not affect
/// the freshness here, only whether the response to one user's credential may be used for all users (`isShared`).
public struct HTTPCacheMetadata: Sendable, Equatable {
    /// Whether a response may be used without revalidation.
    public enum State: Sendable, Hashable {
        /// The response is within its freshness lifetime, or has none that the server gave.
        case fresh
        /// The response must be revalidated first.
        case stale
    }

    /// The relevant header fields: those of `keptFields` that the response had.
    public let fields: HTTPHeaders
    /// The time when the response was received, by this machine's clock.
    public let responseDate: Date
    /// The request's value of each field that `Vary` names, keyed by the lower-case name; nil if the request did not
    /// have it. The value of a field that identifies a user is stored as a hash, as it may be a secret.
    public let varyValues: [String: String?]

    /// Whether the response must be revalidated before every use, whatever the fields say.
    let isDistrusted: Bool
    /// Whether `Vary` names a field that identifies users, or everything. It is stored because the set of such fields
    /// is a setting.
    let variesWithUser: Bool

    /// The time until which the response is explicitly fresh; nil if the server does not declare it, so that the
    /// cache's own time to live decides.
    public let freshUntil: Date?
    /// Whether the response must never be served stale, not even without a network.
    public let mustRevalidate: Bool
    /// Whether the response must be revalidated before every use: the server requires it, or `requiringRevalidation`
    /// was called. A `no-cache` that names fields counts as one that names none.
    public let noCache: Bool
    /// Whether the response must not be stored. `must-understand` overrides it (RFC 9111, 5.2.2.3) for the statuses
    /// that are stored at all.
    public let noStore: Bool
    /// Whether the response needs no revalidation while it is fresh, even when the user reloads.
    public let isImmutable: Bool
    /// The number of seconds past its freshness for which the response may be used while it is revalidated in the
    /// background (RFC 5861, 3); nil if the server does not declare it.
    public let staleWhileRevalidate: Int?
    /// The number of seconds past its freshness for which the response may be used if the server fails (RFC 5861, 4);
    /// nil if the server does not declare it.
    public let staleIfError: Int?
    /// Whether the response has `Vary: *`: it cannot be used for any other request.
    public let variesOnEverything: Bool

    /// Whether the server declares that the response is for one user (5.2.2.7).
    public let isPrivate: Bool
    /// Whether the response to a request with a credential may be used for requests of other users: it is `public`, or
    /// has an `s-maxage` of at least one second (3.5), is not `private`, and does not vary with fields that identify
    /// users.
    public let isShared: Bool

    /// Whether the response may be used stale, when there is no network or while it is revalidated.
    public var mayBeServedStale: Bool { !mustRevalidate && !noCache && !variesOnEverything }

    /// The `ETag` field, by which the server confirms the response; nil without one.
    public var etag: String? { fields["ETag"] }
    /// The `Last-Modified` field; nil without one.
    public var lastModified: String? { fields["Last-Modified"] }
    /// The `Content-Type` field; nil without one.
    public var contentType: String? { fields["Content-Type"] }
    /// Whether the server declares how long the response is fresh.
    public var hasExplicitFreshness: Bool { freshUntil != nil }

    static let keptFields = [
        "Cache-Control", "Expires", "Date", "Age", "ETag", "Last-Modified", "Vary", "Content-Type",
    ]

    /// Creates the metadata of a received response.
    ///
    /// - Parameters:
    ///   - requestHeaders: The fields of the request, for those that `Vary` names.
    ///   - credentials: The fields that identify users.
    ///   - now: The time when the response was received.
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

    /// Returns whether the response is fresh at a date. Without explicit freshness it is fresh here: the cache's own
    /// time to live decides then.
    public func state(at date: Date) -> State {
        if noCache || variesOnEverything { return .stale }
        guard let freshUntil else { return .fresh }
        return date < freshUntil ? .fresh : .stale
    }

    /// Returns the age of the response in seconds (RFC 9111, 4.2.3); negative before it was received.
    public func age(at date: Date) -> TimeInterval {
        date.timeIntervalSince(responseDate) + Self.ageOnArrival(fields, responseDate: responseDate)
    }

    /// Returns whether a 304 confirms this response: the validators that it has, if any, are equal to this response's
    /// (RFC 9111, 4.3.4).
    public func isConfirmed(by head: HTTPResponseHead) -> Bool {
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        if let tag = head.headers["ETag"] {
            if let etag { return opaque(tag) == opaque(etag) }
            // A strong tag that is not known names another representation; a weak one does not tell.
            if !tag.hasPrefix("W/") { return false }
        }
        if let date = head.headers["Last-Modified"], let lastModified { return date == lastModified }
        return true
    }

    /// The conditional request fields for the revalidation; empty if the server sent no validator that can be sent back.
    public var conditionalHeaders: HTTPHeaders {
        func sendable(_ value: String?) -> String? {
            value.flatMap { $0.utf8.contains { $0 < 0x20 || $0 == 0x7F } ? nil : $0 }
        }
        var headers = HTTPHeaders()
        headers["If-None-Match"] = sendable(etag)
        headers["If-Modified-Since"] = sendable(lastModified)
        return headers
    }

    /// Returns the metadata of the same response, to be revalidated before every use as with `no-cache`. It is for a
    /// response whose freshness does not apply to the requested URL, as behind a temporary redirect.
    public func requiringRevalidation() -> HTTPCacheMetadata {
        HTTPCacheMetadata(
            fields: fields, responseDate: responseDate, varyValues: varyValues, isDistrusted: true,
            variesWithUser: variesWithUser)
    }

    /// Returns whether the response matches a request with these fields, according to `Vary`.
    public func matches(requestHeaders: HTTPHeaders) -> Bool {
        guard !variesOnEverything else { return false }
        return varyValues.allSatisfy { name, value in VaryValue.isSame(requestHeaders.combined(name), as: value) }
    }

    /// Returns the metadata of the response after a 304 has confirmed it: the fields of the 304 replace the old ones,
    /// and its age starts anew. The effect of `requiringRevalidation` ends, as the 304 may have come by another route.
    ///
    /// - Parameter requestHeaders: The fields of the revalidation request, for a `Vary` that has changed; nil keeps the
    ///   stored values.
    public func merging(
        notModified head: HTTPResponseHead, requestHeaders: HTTPHeaders? = nil,
        credentials: CredentialFields = .standard, now: Date
    ) -> HTTPCacheMetadata {
        var merged = fields
        // They give the age of the old response.
        merged.remove("Age")
        merged.remove("Date")
        Self.copyFields(of: head, to: &merged)
        let values =
            requestHeaders.map { VaryValue.values(Self.varyNames(merged), $0, credentials) } ?? varyValues
        return HTTPCacheMetadata(
            fields: merged, responseDate: now, varyValues: values,
            variesWithUser: Self.variesWithUser(merged, credentials))
    }

    /// Replaces the kept fields that a response has.
    private static func copyFields(of head: HTTPResponseHead, to fields: inout HTTPHeaders) {
        for name in keptFields {
            guard let value = head.headers.combined(name) else { continue }
            fields[name] = value
        }
        // Line by line, as a damaged line must not damage the next one.
        let lines = head.headers.values(of: "Cache-Control")
        guard lines.count > 1 else { return }
        fields.remove("Cache-Control")
        for line in lines { fields.append("Cache-Control", line) }
    }

    /// Returns the names in `Vary` in lower case, with `*` for an invalid name, as it is then unknown what the response
    /// varies with.
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
            // "0", "-1" and anything else that is not a date mean: already expired.
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

    /// Returns the age of the response on arrival in seconds: what the caches on its way declare, or the difference of
    /// the clocks if that is larger.
    private static func ageOnArrival(_ fields: HTTPHeaders, responseDate: Date) -> TimeInterval {
        let sent = dateSent(fields, responseDate: responseDate)
        let told = fields["Age"].flatMap { $0.split(separator: ",").first }.flatMap {
            CacheControl.seconds(digits: $0.trimmingCharacters(in: .whitespaces))
        }
        return max(TimeInterval(told ?? 0), responseDate.timeIntervalSince(sent), 0)
    }
}

/// A request's value of a field that `Vary` names, in stored form: a value that identifies a user is a hash with a salt
/// of its own, since it may be a secret and is written to disk.
private enum VaryValue {
    /// The first character of a hash; no field's value can contain it.
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

    /// Returns the mark, the salt's digits and the hash's digits.
    private static func hashed(_ value: String, salt: [UInt8]) -> String {
        let hash = KeyedHash(of: Array(value.utf8), key: salt)
        return "\(mark)\(String(decoding: salt, as: UTF8.self))\(hexadecimal(hash.bytes))"
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
