import Foundation
import HalcyonSystem

/// One transfer from its first attempt to its result: retries around redirects around single requests.
struct DownloadRun: Sendable {
    let id: Int
    let request: DownloadRequest
    let headers: HTTPHeaders
    let retry: RetryPolicy
    let configuration: ImageDownloader.Configuration
    let slots: TransferSlots
    let report: @Sendable (DownloadProgress) -> Void

    private enum Hop {
        case redirect(HTTPResponseHead)
        case result(DownloadResult)
    }

    func perform() async throws -> DownloadResult {
        let deadline = request.timeouts.total.map { ContinuousClock.now.advanced(by: $0) }
        var retries = 0
        while true {
            do {
                var result = try await attempt(until: deadline)
                result.retryCount = retries
                return result
            } catch let error as DownloadError {
                try Task.checkCancellation()
                let jitter = configuration.jitter()
                let now = configuration.time.now
                guard let delay = retry.delay(after: error, retries: retries, jitter: jitter, now: now),
                    deadline.map({ ContinuousClock.now.advanced(by: delay) < $0 }) ?? true
                else { throw error }
                try await configuration.sleep(delay)
                retries += 1
            }
        }
    }

    private func attempt(until deadline: ContinuousClock.Instant?) async throws -> DownloadResult {
        var chain = RedirectChain(url: request.url, headers: headers, limit: request.maximumRedirects)
        while true {
            let request = try transportRequest(chain, until: deadline)
            try request.validate()
            // A place for each hop, as each may lead to another host; what waits between two holds none.
            let hop = try await slots.withSlot(id, host: Self.hostKey(chain.url)) { try await send(request) }
            switch hop {
            case .redirect(let head):
                try chain.follow(head)
            case .result(var result):
                result.redirectCount = chain.count
                return result
            }
        }
    }

    private func transportRequest(
        _ chain: RedirectChain, until deadline: ContinuousClock.Instant?
    ) throws -> TransportRequest {
        let left = deadline.map { ContinuousClock.now.duration(to: $0) }
        if let left, left <= .zero { throw DownloadError(.timeout(.total), url: chain.url) }
        return TransportRequest(
            url: chain.url, headers: chain.headers, connectTimeout: request.timeouts.connect,
            idleTimeout: request.timeouts.idle, totalTimeout: left)
    }

    private func send(_ request: TransportRequest) async throws -> Hop {
        let response = try await configuration.transport.send(request)
        let head = response.head
        if RedirectChain.isRedirect(head.status) { return .redirect(head) }
        try check(head, of: request)
        let data = try await collect(response, of: request)
        return .result(
            DownloadResult(
                data: data, url: request.url, status: head.status, headers: head.headers, version: head.version,
                metrics: response.body.metrics))
    }

    /// Refuses by the head alone; the body, which is dropped then, is not waited for.
    private func check(_ head: HTTPResponseHead, of request: TransportRequest) throws {
        let isConditional = request.headers.contains("If-None-Match") || request.headers.contains("If-Modified-Since")
        guard (200..<300).contains(head.status) || (head.status == 304 && isConditional) else {
            throw DownloadError(.httpStatus(head.status), url: request.url, responseHeaders: head.headers)
        }
        if head.status != 304, let length = head.contentLength, length > self.request.maximumBytes {
            throw DownloadError(
                .tooLarge(limit: self.request.maximumBytes), url: request.url, responseHeaders: head.headers)
        }
    }

    private func collect(_ response: TransportResponse, of request: TransportRequest) async throws -> Data {
        let head = response.head
        let hasBody = head.status != 204 && head.status != 304
        let expected = hasBody && !head.hasContentEncoding ? head.contentLength : nil
        let limit = self.request.maximumBytes
        var data = Data()
        // Only so much on a server's word; beyond it the buffer grows as bytes come.
        data.reserveCapacity(min(expected ?? 0, 16 << 20))
        let body = self.request.exposesBody ? ReceivedBody() : nil
        if hasBody { report(DownloadProgress(received: 0, expected: expected, body: body)) }
        for try await chunk in response.body {
            guard chunk.count <= limit - data.count else {
                throw DownloadError(.tooLarge(limit: limit), url: request.url, responseHeaders: head.headers)
            }
            data.append(chunk)
            body?.append(chunk)
            report(DownloadProgress(received: data.count, expected: expected, body: body))
        }
        if let expected, data.count < expected {
            throw DownloadError(.incompleteBody(received: data.count, expected: expected), url: request.url)
        }
        return data
    }

    private static func hostKey(_ url: URL) -> String {
        "\(url.host(percentEncoded: true)?.lowercased() ?? ""):\(url.port ?? (url.scheme == "https" ? 443 : 80))"
    }
}
