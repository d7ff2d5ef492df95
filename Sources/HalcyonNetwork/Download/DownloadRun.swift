import Foundation
import HalcyonSystem

/// A transfer from its first attempt to its result: a loop of retries, around one of redirects, around single requests.
final class DownloadRun: Sendable {
    let id: Int
    let request: DownloadRequest
    let headers: HTTPHeaders
    private let timeouts: DownloadTimeouts
    let retry: RetryPolicy
    let downloader: ImageDownloader
    /// The hooks of the downloader, followed by those of the request.
    let hooks: DownloadHooks

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - id: The ID of the transfer, unique in the downloader.
    ///   - headers: All fields to send.
    init(_ id: Int, _ request: DownloadRequest, headers: HTTPHeaders, retry: RetryPolicy, downloader: ImageDownloader) {
        self.id = id
        self.request = request
        self.headers = headers
        timeouts = request.timeouts ?? downloader.configuration.timeouts
        self.retry = retry
        self.downloader = downloader
        hooks = downloader.configuration.hooks.followed(by: request.hooks?.hooks)
    }

    private enum Hop {
        case redirect(HTTPResponseHead)
        case result(DownloadResult)
    }

    func perform() async throws -> DownloadResult {
        let deadline = timeouts.total?.limit.map { ContinuousClock.now.advanced(by: $0) }
        var pacer: RetryPacer?
        var queued = Duration.zero
        while true {
            do {
                var result = try await attempt(until: deadline, queued: &queued)
                result.retryCount = pacer?.retries ?? 0
                result.queueTime = queued
                return result
            } catch let error as DownloadError {
                var next =
                    pacer ?? RetryPacer(policy: retry, configuration: downloader.configuration, deadline: deadline)
                try await next.waitForNextAttempt(after: error)
                request.observe?(.retried(error, attempt: next.retries))
                pacer = next
            }
        }
    }

    private func attempt(
        until deadline: ContinuousClock.Instant?, queued: inout Duration
    ) async throws -> DownloadResult {
        var chain = RedirectChain(
            url: request.url, headers: headers, digest: request.credential?.digest, limit: request.maximumRedirects,
            credentialFields: downloader.configuration.credentialFields)
        var hops: [DownloadResult.Hop] = []
        while true {
            let request = transportRequest(chain)
            try request.validate()
            try checkAddress(request)
            let hop = try await sendInSlot(request, goesOn: chain.count > 0, until: deadline, queued: &queued)
            switch hop {
            case .redirect(let head):
                let former = chain.url
                try chain.follow(head)
                let target = chain.target
                chain.target = try await hooks.modified(target, head, from: former)
                hops.append(
                    .init(url: chain.url, added: chain.headers.fields.filter { !target.headers.fields.contains($0) }))
            case .result(var result):
                result.hops = hops
                result.redirectCount = chain.count
                result.redirectsArePermanent = chain.isPermanent
                return result
            }
        }
    }

    /// Sends a request once it has a slot. Each hop takes a slot of its own, as it may lead to another host, and a
    /// transfer that waits between two hops holds none.
    private func sendInSlot(
        _ request: TransportRequest, goesOn: Bool, until deadline: ContinuousClock.Instant?, queued: inout Duration
    ) async throws -> Hop {
        let asked = ContinuousClock.now
        // The keeper watches it until its slot is free, so that it does not end another transfer for the same slot.
        let pace = TransferPace(id, minimumRate: timeouts.minimumRate)
        defer { downloader.paces.remove(pace) }
        return try await downloader.slots.withSlot(
            id, host: Self.hostKey(request.url), goesOn: goesOn, until: deadline,
            expiry: DownloadError(.timeout(.total), url: request.url)
        ) {
            queued += ContinuousClock.now - asked
            // The wait counts towards the total time.
            let left = deadline.map { ContinuousClock.now.duration(to: $0) }
            if let left, left <= .zero { throw DownloadError(.timeout(.total), url: request.url) }
            var timed = request
            timed.totalTimeout = left
            downloader.paces.add(pace)
            return try await send(timed, pace)
        }
    }

    private func transportRequest(_ chain: RedirectChain) -> TransportRequest {
        TransportRequest(
            url: chain.url, headers: chain.headers, connectTimeout: timeouts.connect,
            idleTimeout: timeouts.idle, addressPolicy: downloader.configuration.addressPolicy,
            digest: chain.digest)
    }

    /// Checks the address policy before a connection is made, at each hop.
    private func checkAddress(_ request: TransportRequest) throws {
        try request.addressPolicy.check(request.url)
        try downloader.configuration.transport.checkAbilities(for: request)
    }

    private func send(_ request: TransportRequest, _ pace: TransferPace) async throws -> Hop {
        var request = request
        if let resumption = await Resumption(request, downloader) {
            let started = ContinuousClock.now
            if let hop = try await exchange(request, pace, resuming: resumption) { return hop }
            request.totalTimeout = request.totalTimeout.map { $0 - (ContinuousClock.now - started) }
            if let left = request.totalTimeout, left <= .zero {
                throw DownloadError(.timeout(.total), url: request.url)
            }
        }
        guard let hop = try await exchange(request, pace, resuming: nil) else {
            // Unreachable: only a request for the rest of a body returns nil.
            throw DownloadError(.connection(.badAnswer), url: request.url)
        }
        return hop
    }

    /// Sends one request and handles its response.
    ///
    /// - Returns: Nil if the rest of a body was requested and is not available; the whole body is to be requested then.
    private func exchange(
        _ request: TransportRequest, _ pace: TransferPace, resuming resumption: Resumption?
    ) async throws -> Hop? {
        let response: TransportResponse
        var head: HTTPResponseHead
        do {
            pace.beginWait()
            response = try await downloader.configuration.transport.send(resumption?.asking(request) ?? request)
            pace.endWait()
        } catch {
            await resumption?.putBack()
            throw error
        }
        do {
            head = try await hooks.modified(response.head)
        } catch {
            response.body.cancel()
            // A partial response that the program has not requested: the hook would refuse each of them, but may accept
            // the whole.
            if resumption != nil, response.head.status == 206, error is DownloadError {
                await resumption?.discard()
                return nil
            }
            await resumption?.putBack()
            throw error
        }
        var kept: KeptBody?
        switch resumption?.verdict(head) {
        case .rest(let whole):
            head = whole
            kept = resumption?.takeOver(whole)
        case .refused:
            response.body.cancel()
            await resumption?.discard()
            return nil
        case .other(isOver: true): await resumption?.discard()
        case .other(isOver: false): await resumption?.putBack()
        case nil: break
        }
        if RedirectChain.isRedirect(head.status) { return .redirect(head) }
        try check(head, of: request)
        let key = downloader.resumption(of: request)?.key
        let data = try await hooks.modified(
            try await collect(response.body, head, pace, key: key, kept: kept), head)
        var result = DownloadResult(
            data: data, url: request.url, status: head.status, headers: head.headers, version: head.version,
            metrics: response.body.metrics)
        // As much as most bodies have; the receiver of the body reserves the rest without waiting.
        if !data.isEmpty, let budget = self.request.bodyBudget {
            let ticket = WorkTicket(priority: self.request.priority)
            result.hold = try await budget.hold(min(data.count, 256 << 10), ticket: ticket)
        }
        return .result(result)
    }

    /// Checks a response by its head alone; the body of a refused one is not awaited but dropped.
    private func check(_ head: HTTPResponseHead, of request: TransportRequest) throws {
        let isConditional = request.headers.contains("If-None-Match") || request.headers.contains("If-Modified-Since")
        // A part that was not requested must not pass for the whole.
        let isWanted =
            switch head.status {
            case 206: request.headers.contains("Range")
            case 304: isConditional
            default: downloader.configuration.accepted.statuses.contains(head.status)
            }
        guard isWanted else {
            if head.status == 401, request.digest != nil || request.headers.contains("Authorization") {
                throw DownloadError(.unauthorized, url: request.url, responseHeaders: head.headers)
            }
            throw DownloadError(.httpStatus(head.status), url: request.url, responseHeaders: head.headers)
        }
        if head.status != 304, !downloader.configuration.accepted.accepts(type: head.headers["Content-Type"]) {
            throw DownloadError(
                .contentType(head.headers["Content-Type"]), url: request.url, responseHeaders: head.headers)
        }
        if head.status != 304, let length = head.contentLength, length > self.request.maximumBytes {
            throw DownloadError(
                .tooLarge(limit: self.request.maximumBytes), url: request.url, responseHeaders: head.headers)
        }
    }

    private func collect(
        _ body: TransportBody, _ head: HTTPResponseHead, _ pace: TransferPace, key: PartialBodyKey?, kept: KeptBody?
    ) async throws -> Data {
        try await hooks.checkBody(head)
        var collector = BodyCollector(
            head, limit: request.maximumBytes, body: request.exposesBody ? ReceivedBody() : nil,
            beginning: request.beginning, key: key, kept: kept, store: downloader.configuration.partialBodies)
        do {
            try await collector.begin()
            if collector.hasBody { downloader.hub.report(collector.progress, of: id) }
            pace.beginBody { body.cancel() }
            var chunks = body.makeAsyncIterator()
            while true {
                pace.beginWait()
                let next = try await chunks.next()
                pace.endWait(bytes: next?.count ?? 0)
                guard let chunk = next else { break }
                try await collector.take(chunk)
                hooks.chunk?(chunk, collector.progress)
                downloader.hub.report(collector.progress, of: id)
            }
            return try await collector.finish()
        } catch {
            // First the connection, which others may need; then the disk.
            body.cancel()
            // A transfer that exceeds a limit is ended by a cancellation of its body.
            let limit = Task.isCancelled ? nil : pace.expired
            let reason =
                limit.map { DownloadError(.timeout($0), url: head.url, responseHeaders: head.headers) } ?? error
            await collector.abandon(after: reason)
            throw reason
        }
    }

    private static func hostKey(_ url: URL) -> String {
        "\(url.host(percentEncoded: true)?.lowercased() ?? ""):\(url.port ?? (url.scheme == "https" ? 443 : 80))"
    }
}
