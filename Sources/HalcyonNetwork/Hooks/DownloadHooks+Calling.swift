import Foundation
import HalcyonSystem

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
            try await ExecutionDomains.cpu.run { _ in try data(body, head) }
        }
    }

    private static func answer<Value: Sendable>(
        of hook: String, url: URL, _ head: HTTPResponseHead? = nil, _ call: () async throws -> Value?
    ) async throws -> Value {
        func refusal(_ why: String) -> DownloadError {
            DownloadError(.refused(why), url: url, responseHeaders: head?.headers ?? HTTPHeaders())
        }
        do {
            if let value = try await call() { return value }
        } catch let error where !(error is DownloadError) && !(error is CancellationError) {
            throw refusal("\(hook): \(error)")
        }
        throw refusal(hook)
    }
}
