import Foundation
import HalcyonSystem

/// Closures that inspect and change transfers: all those of a downloader, or those of one request (`RequestHooks`).
/// None is set by default.
///
/// They run in the transfer's own task, in this order, once per attempt; only `request` runs once per download, before
/// the downloader knows whether it can share a transfer. An error that a hook throws ends the download as a refusal
/// with the error as its `DownloadError.underlying`; a `DownloadError` is passed on unchanged, and a `CancellationError` cancels.
public struct DownloadHooks: Sendable {
    /// Changes a request before it is sent: another URL, other header fields. If it returns nil, the download fails
    /// with `DownloadError.Reason.refused`.
    ///
    /// The request has all fields that are sent, including the downloader's own and `Accept-Encoding`. Exactly the
    /// fields that the hook returns are sent; those that it removes are not added again. Only the credential is
    /// separate, in `DownloadRequest.credential`, and `CurlTransport` sends `Accept: */*` if there is no such field.
    public var request: (@Sendable (DownloadRequest) async throws -> DownloadRequest?)?
    /// Changes the target of a redirect and the fields that are sent there. If it returns nil, the redirect is not
    /// followed, and the download fails with its status.
    public var redirect: (@Sendable (_ head: HTTPResponseHead, _ next: RedirectTarget) async throws -> RedirectTarget?)?
    /// Changes the status and header fields of a response before they are evaluated. If it returns nil, the response is
    /// refused.
    public var response: (@Sendable (HTTPResponseHead) async throws -> HTTPResponseHead?)?
    /// Decides by the head alone whether the body is wanted; false refuses the response before any of the body is awaited.
    public var wantsBody: (@Sendable (HTTPResponseHead) async throws -> Bool)?
    /// Receives each chunk as it arrives, compressed as it was transferred. It must return quickly: the transfer waits
    /// for it.
    public var chunk: (@Sendable (_ chunk: Data, _ progress: DownloadProgress) -> Void)?
    /// Transforms the whole body, for example decrypts it: the returned bytes are decoded and cached. If it returns
    /// nil, the body is refused. It runs on a processor thread; if it is set, there are no previews.
    public var data: (@Sendable (Data, HTTPResponseHead) throws -> Data?)?

    /// Creates hooks of which none is set.
    public init() {}
}

/// The next request of a chain of redirects.
public struct RedirectTarget: Sendable, Hashable {
    /// The URL of the next request.
    public var url: URL
    /// The header fields that are sent in addition to the transport's own. Credentials of another origin are already removed.
    public var headers: HTTPHeaders

    /// Creates a target from the URL and the header fields of the next request.
    public init(url: URL, headers: HTTPHeaders) {
        self.url = url
        self.headers = headers
    }
}

/// Hooks for the transfer of one request, called after the downloader's own hooks.
///
/// Closures cannot be compared, so hooks are compared by `id`: two requests whose hooks have different IDs never share
/// a transfer, and two with the same ID must do the same, as one request may receive the result of the other's hooks.
public struct RequestHooks: Sendable {
    /// The identity of the hooks: equal IDs must mean equal behaviour.
    public let id: String
    /// The hooks that the transfer calls.
    public let hooks: DownloadHooks

    /// Creates hooks for requests, with the identity by which they are compared.
    public init(id: String, _ hooks: DownloadHooks) {
        self.id = id
        self.hooks = hooks
    }
}

extension RequestHooks: Hashable {
    /// Returns whether both have the same `id`.
    public static func == (left: RequestHooks, right: RequestHooks) -> Bool { left.id == right.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The hooks as a transfer calls them: with a default for each one that is not set, and errors that name the hook.
extension DownloadHooks {
    func modified(_ original: DownloadRequest) async throws -> DownloadRequest {
        guard let request else { return original }
        return try await Self.answer(of: "the request hook", url: original.url) { try await request(original) }
    }

    func modified(_ head: HTTPResponseHead) async throws -> HTTPResponseHead {
        guard let response else { return head }
        return try await Self.answer(of: "the response hook", url: head.url, head) { try await response(head) }
    }

    /// - Throws: `DownloadError` with the redirect's status if the hook returns nil.
    func modified(_ target: RedirectTarget, _ head: HTTPResponseHead, from url: URL) async throws -> RedirectTarget {
        guard let redirect else { return target }
        let answer = try await Self.answer(of: "the redirect hook", url: url, head) {
            [try await redirect(head, target)] as [RedirectTarget?]
        }
        guard let changed = answer.first ?? nil else {
            throw DownloadError(.httpStatus(head.status), url: url, responseHeaders: head.headers)
        }
        return changed
    }

    func checkBody(_ head: HTTPResponseHead) async throws {
        guard let wantsBody else { return }
        _ = try await Self.answer(of: "the body hook", url: head.url, head) { try await wantsBody(head) ? true : nil }
    }

    /// Returns the body as the data hook changes it; a 304 has no body to change.
    func modified(_ body: Data, _ head: HTTPResponseHead) async throws -> Data {
        guard let data, head.status != 304 else { return body }
        return try await Self.answer(of: "the data hook", url: head.url, head) {
            try await ThreadPools.cpu.run { _ in try data(body, head) }
        }
    }

    private static func answer<Value: Sendable>(
        of hook: String, url: URL, _ head: HTTPResponseHead? = nil, _ call: () async throws -> Value?
    ) async throws -> Value {
        func refusal(_ why: String, _ error: (any Error)? = nil) -> DownloadError {
            DownloadError(
                .refused(why), url: url, responseHeaders: head?.headers ?? HTTPHeaders(), underlying: error)
        }
        do {
            if let value = try await call() { return value }
        } catch let error where !(error is DownloadError) && !(error is CancellationError) {
            throw refusal("\(hook): \(error)", error)
        }
        throw refusal(hook)
    }
}

extension DownloadHooks {
    /// Returns hooks that call these first, then `others`: each one receives the result of the one before, and if one
    /// refuses, the next is not called.
    func followed(by others: DownloadHooks?) -> DownloadHooks {
        guard let others else { return self }
        var both = DownloadHooks()
        both.request = Self.chained(request, others.request)
        both.response = Self.chained(response, others.response)
        both.redirect = redirect ?? others.redirect
        if let first = redirect, let second = others.redirect {
            both.redirect = { head, next in
                guard let target = try await first(head, next) else { return nil }
                return try await second(head, target)
            }
        }
        both.wantsBody = wantsBody ?? others.wantsBody
        if let first = wantsBody, let second = others.wantsBody {
            both.wantsBody = { head in
                guard try await first(head) else { return false }
                return try await second(head)
            }
        }
        both.chunk = chunk ?? others.chunk
        if let first = chunk, let second = others.chunk {
            both.chunk = { chunk, progress in
                first(chunk, progress)
                second(chunk, progress)
            }
        }
        both.data = data ?? others.data
        if let first = data, let second = others.data {
            both.data = { data, head in
                guard let changed = try first(data, head) else { return nil }
                return try second(changed, head)
            }
        }
        return both
    }

    private typealias Change<Value> = @Sendable (Value) async throws -> Value?

    private static func chained<Value: Sendable>(
        _ first: Change<Value>?, _ second: Change<Value>?
    ) -> Change<Value>? {
        guard let first, let second else { return first ?? second }
        return { value in
            guard let changed = try await first(value) else { return nil }
            return try await second(changed)
        }
    }
}
