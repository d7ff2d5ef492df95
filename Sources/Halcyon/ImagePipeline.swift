import Foundation
@_exported import HalcyonCache
@_exported import HalcyonCodecs
@_exported import HalcyonImage
@_exported import HalcyonNetwork
@_exported import HalcyonProcessing
@_exported import HalcyonSystem

/// Loads images: from memory, from disk, from the network, decoded at the size that is needed, processed, and stored.
///
///     let image = try await ImagePipeline.shared.image(for: url)
///
/// Requests that are under way at the same time share what they have in common: one transfer per URL, one decode per
/// size, one run of each processor. Any member may be called from any thread.
public final class ImagePipeline: Sendable {
    /// A pipeline with the default configuration.
    public static let shared = ImagePipeline(configuration: Configuration())

    public let configuration: Configuration
    /// Both levels of the cache.
    public var cache: ImageCache { configuration.cache }
    let coordinator: Coordinator

    public init(configuration: Configuration) {
        self.configuration = configuration
        coordinator = Coordinator(configuration: configuration)
    }

    // MARK: - async

    /// The image of a URL.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` when the awaiting task is cancelled.
    nonisolated(nonsending) public func image(for url: URL?) async throws -> Image {
        try await response(for: ImageRequest(url)).image
    }

    /// The image of a request.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` when the awaiting task is cancelled.
    nonisolated(nonsending) public func image(for request: ImageRequest) async throws -> Image {
        try await response(for: request).image
    }

    /// The image of a request and how it came.
    ///
    /// An image in memory comes back without a change of thread.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` when the awaiting task is cancelled.
    nonisolated(nonsending) public func response(for request: ImageRequest) async throws -> ImageResponse {
        let resolved = ResolvedRequest(request, for: configuration)
        if let response = cachedResponse(for: resolved) { return response }
        let task = ImageTask(resolved, coordinator: coordinator)
        task.start()
        return try await task.response
    }

    /// Starts a load and tells what happens to it, to its end. Whoever stops reading cancels the load.
    public func events(for request: ImageRequest) -> AsyncThrowingStream<ImageEvent, any Error> {
        task(for: request).events(cancelsWithReader: true)
    }

    /// The encoded bytes of a request's source, from the disk cache or wherever they come from; nothing is decoded, so
    /// nothing is stored.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` when the awaiting task is cancelled.
    public func data(for request: ImageRequest) async throws -> Data {
        do {
            return try await coordinator.bytes(of: ResolvedRequest(request, for: configuration))
        } catch {
            throw ImagePipelineError.wrapping(error, source: request.source)
        }
    }

    /// The key under which the caches find a request's image, as this pipeline loads it: with its `defaults`, its
    /// `requestModifier` and the user that its downloader's own fields and interceptors name.
    public func key(for request: ImageRequest) -> ImageKey {
        ResolvedRequest(request, for: configuration).key
    }

    // MARK: - Tasks

    /// Starts a load and returns the handle to it. An image in memory makes a task that has ended already.
    ///
    /// The load goes on when the handle is dropped.
    public func task(for request: ImageRequest) -> ImageTask {
        task(for: ResolvedRequest(request, for: configuration))
    }

    /// The same for a request that is resolved.
    ///
    /// - Parameter priority: instead of the request's own; nil, the default, is that.
    func task(for resolved: ResolvedRequest, priority: RequestPriority? = nil) -> ImageTask {
        let response = cachedResponse(for: resolved)
        let task = ImageTask(resolved, coordinator: coordinator)
        if let priority { task.priority = priority }
        if let response { task.end(.success(response)) } else { task.start() }
        return task
    }

    /// Starts a load and calls `completion` exactly once with its end.
    ///
    /// - Parameter delivery: where the callback runs; on the main queue, later, by default.
    @discardableResult
    public func load(
        _ request: ImageRequest, deliverOn delivery: Delivery = .mainAsync,
        completion: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void
    ) -> ImageTask {
        let task = task(for: request)
        task.observe(event: { _ in }, end: { result in delivery.deliver { completion(result) } })
        return task
    }

    /// Ends every load that is under way with `CancellationError`: tasks, and whoever waits for bytes or an encoding.
    ///
    /// It returns at once, and the loads end right after it; what is asked for from then on is loaded. Prefetchers count
    /// what they had under way as failed and go on with the next: `ImagePrefetcher.stop()` ends them. Transfers that others
    /// have begun with the same downloader go on; `ImageDownloader.cancelAll()` ends those too.
    public func cancelAll() {
        coordinator.perform { $0.cancelAll() }
    }

    /// Forgets the failures that are remembered, of one URL or all, so that the next load asks again.
    public func forgetFailures(_ url: URL? = nil) {
        coordinator.failures.forget(url: url.map { FailureMemory.Key.text(of: $0) })
    }

    /// Failures that are remembered, some of them perhaps past their time.
    package var rememberedFailureCount: Int { coordinator.failures.count }

    /// Loads that are running.
    public var runningCount: Int {
        get async { await coordinator.runningCount }
    }

    /// Whether this many loads are running and wait for bytes; for tests, which want to see that all have joined.
    package func isWaitingForBytes(_ count: Int) async -> Bool {
        await coordinator.isWaitingForBytes(count)
    }

    /// Jobs of every level that are under way; for tests, which want to see it return to zero.
    package var jobCount: Int {
        get async { await coordinator.jobCount }
    }

    /// Writes what waits to disk, within a time. A program calls it before it ends.
    ///
    /// - Returns: whether all was written in time.
    @discardableResult
    public func shutdown(within time: Duration = .seconds(2)) async -> Bool {
        // Side by side, since each may take all of the time.
        async let originals = configuration.originalCache?.shutdown(within: time)
        let isDone = await cache.shutdown(within: time)
        return await originals ?? true && isDone
    }

    /// What can be had on this thread: from memory, or from disk where the request wants that.
    func cachedResponse(for resolved: ResolvedRequest) -> ImageResponse? {
        let started = ContinuousClock.now
        if let answer = coordinator.cachedImage(for: resolved) {
            var metrics = LoadMetrics()
            metrics.total = ContinuousClock.now - started
            metrics.lookup = metrics.total
            return response(to: resolved, answer, in: .memory, metrics)
        }
        guard resolved.cache.readsDiskSynchronously else { return nil }
        let check = coordinator.freshnessCheck(resolved)
        let mark = resolved.originals.news.mark(resolved.key)
        let disk = SynchronousDisk(configuration: configuration, check: check, resolved: resolved)
        var metrics = LoadMetrics()
        metrics.misses = [CacheMiss(.memory, coordinator.memoryMiss(resolved))]
        metrics.lookup = ContinuousClock.now - started
        guard let found = disk.image() else { return nil }
        metrics.lookup += found.lookup
        metrics.decode = found.decode
        metrics.process = found.process
        metrics.misses += found.misses
        metrics.total = ContinuousClock.now - started
        let cached = found.cached
        if !mark.isOutdated(in: .memory) {
            resolved.target.remember(cached, for: resolved.key, policy: resolved.cache)
        }
        let answer = CachedAnswer(cached: cached, rule: check.rule(for: cached.http))
        return response(to: resolved, answer, in: found.place, metrics)
    }

    private func response(
        to resolved: ResolvedRequest, _ answer: CachedAnswer, in place: CachePlace, _ metrics: LoadMetrics
    ) -> ImageResponse {
        var metrics = metrics
        metrics.bytes = answer.cached.encodedBytes
        let response = ImageResponse(
            image: resolved.delivered(answer.cached.image), origin: answer.origin(place == .memory ? .memory : .disk),
            source: resolved.source,
            originalSource: resolved.source,
            metrics: metrics, cacheRule: answer.rule,
            encoded: coordinator.encodedBytes(of: resolved, fetched: nil))
        if coordinator.hub.isActive {
            let isKept = place != .memory && resolved.cache.writes.contains(.memory)
            coordinator.hub.tell(response, from: place, isKept: isKept)
        }
        return response
    }
}
