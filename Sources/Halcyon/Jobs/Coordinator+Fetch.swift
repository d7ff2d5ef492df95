import Foundation
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

extension Coordinator {
    /// The source's bytes: from wherever they are nearest.
    func fetched(_ request: ImageRequest, demand: Demand) async throws -> FetchedData {
        let key = FetchKey(request)
        if let recent = recentFetch(key) { return recent }
        return try await fetches.value(for: key, demand: demand, isolation: self) { coordinator, demand in
            let fetched = try await coordinator.fetch(request, demand: demand)
            coordinator.rememberFetch(fetched, key)
            return fetched
        }
    }

    private func fetch(_ request: ImageRequest, demand: Demand) async throws -> FetchedData {
        if case .remote(let url) = request.source {
            return try await fetchRemote(url, request: request, demand: demand)
        }
        let limit = request.network.maximumBytes ?? configuration.maximumBytes
        let ticket = WorkTicket(priority: demand.priority)
        let link = demand.follow { ticket.priority = $0 }
        defer { demand.unfollow(link) }
        guard let local = try await LocalSource.bytes(of: request.source, maximumBytes: limit, ticket: ticket) else {
            throw ImagePipelineError.badSource(source: request.source.description, reason: "it cannot be read")
        }
        return local
    }

    // MARK: - Disk, then network

    private func fetchRemote(_ url: URL, request: ImageRequest, demand: Demand) async throws -> FetchedData {
        let policy = request.cache
        let stored = await storedOriginal(request)
        try Task.checkCancellation()
        if let stored {
            if policy.freshness == .ignore || stored.isFresh(at: configuration.clock.now) {
                return stored.fetched(.disk)
            }
            if !policy.allowsNetwork { return stored.fetched(.stale) }
        }
        guard policy.allowsNetwork else {
            throw ImagePipelineError.notInCache(source: request.source.description)
        }
        do {
            return try await download(url, request: request, stored: stored, demand: demand)
        } catch let error as DownloadError where error.mayServeStale {
            guard let stored, stored.http?.mustRevalidate != true else { throw error }
            return stored.fetched(.stale)
        }
    }

    private func storedOriginal(_ request: ImageRequest) async -> StoredOriginal? {
        guard request.cache.reads.contains(.diskOriginal), let disk = configuration.cache.disk,
            let entry = await disk.entry(for: ImageKey.diskKey(of: request.source.key))
        else { return nil }
        let http = HTTPCacheMetadata(decoding: entry.metadata)
        // An answer to other header fields, where the server said that they matter, is no answer to these.
        if request.cache.freshness == .respect, let http, !http.matches(requestHeaders: sentHeaders(request)) {
            return nil
        }
        return StoredOriginal(data: entry.data, http: http)
    }

    private func download(
        _ url: URL, request: ImageRequest, stored: StoredOriginal?, demand: Demand
    ) async throws -> FetchedData {
        let now = configuration.clock.now
        let transfer = transferRequest(url, request: request, stored: stored, demand: demand)
        let ticket = DownloadTicket(priority: demand.priority)
        let link = demand.follow { ticket.priority = $0 }
        defer { demand.unfollow(link) }
        // Only the newest progress matters to who is slow; the last one is always told, before the result.
        let (stream, progress) = AsyncStream.makeStream(of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        let relay = Task { await self.relay(stream, to: demand) }
        defer { progress.finish() }
        let result = try await configuration.downloader.download(transfer, ticket: ticket) { progress.yield($0) }
        progress.finish()
        await relay.value
        if result.isNotModified, let stored {
            return await revalidated(stored, by: result, request: request, now: now)
        }
        let http = HTTPCacheMetadata(result.head, requestHeaders: sentHeaders(request), now: now)
        return FetchedData(data: result.data, origin: .network, http: http, transfer: result.metrics)
    }

    private func relay(_ events: AsyncStream<DownloadProgress>, to demand: Demand) async {
        for await event in events {
            demand.send(.progress(LoadProgress(received: event.received, expected: event.expected)))
            if let body = event.body { demand.send(.body(body)) }
        }
    }

    private func revalidated(
        _ stored: StoredOriginal, by result: DownloadResult, request: ImageRequest, now: Date
    ) async -> FetchedData {
        let http = stored.http?.merging(notModified: result.head, now: now)
        if let http, request.cache.writes.contains(.diskOriginal) {
            // A disk that cannot be written costs another revalidation, and nothing else.
            _ = try? await configuration.cache.disk?.updateMetadata(
                http.encoded(), for: ImageKey.diskKey(of: request.source.key), expiration: request.cache.expiration)
        }
        return FetchedData(data: stored.data, origin: .revalidated, http: http, transfer: result.metrics)
    }

    /// The fields that a server sees, for what it says of them in `Vary`.
    private func sentHeaders(_ request: ImageRequest) -> HTTPHeaders {
        configuration.downloader.defaultHeaders.merging(request.network.headers)
    }

    private func transferRequest(
        _ url: URL, request: ImageRequest, stored: StoredOriginal?, demand: Demand
    ) -> DownloadRequest {
        var transfer = DownloadRequest(url: url, priority: demand.priority)
        transfer.headers = request.network.headers
        transfer.exposesBody = request.wantsPreviews
        if let total = request.network.totalTimeout { transfer.timeouts.total = total }
        transfer.maximumBytes = request.network.maximumBytes ?? configuration.maximumBytes
        if let retries = request.network.retries {
            transfer.retry = configuration.downloader.configuration.retry
            transfer.retry?.maximumRetries = retries
        }
        if request.cache.reads.isEmpty, !transfer.headers.contains("Cache-Control") {
            // A reload means the caches on the way as well.
            transfer.headers.set("Cache-Control", "no-cache")
        }
        for field in stored?.http?.conditionalHeaders.fields ?? [] { transfer.headers.set(field.name, field.value) }
        return transfer
    }
}

extension DownloadError {
    /// Whether the server could not be asked, so that what is kept may stand in for its answer (RFC 9111, 4.2.4). An
    /// answer that is an error is an answer.
    fileprivate var mayServeStale: Bool {
        switch reason {
        case .offline, .connection, .timeout, .incompleteBody: true
        default: false
        }
    }
}

/// What the disk holds of a source.
private struct StoredOriginal {
    let data: Data
    let http: HTTPCacheMetadata?

    /// Without HTTP's word an entry is fresh for as long as the disk keeps it.
    func isFresh(at now: Date) -> Bool {
        http.map { $0.state(at: now) == .fresh } ?? true
    }

    func fetched(_ origin: ImageOrigin) -> FetchedData {
        FetchedData(data: data, origin: origin, http: http)
    }
}
