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
        let resolved = ResolvedRequest(request, for: coordinator)
        if let response = cachedResponse(for: resolved) { return response }
        let task = ImageTask(resolved)
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
            return try await coordinator.bytes(of: ResolvedRequest(request, for: coordinator))
        } catch {
            throw ImagePipelineError.wrapping(error, source: request.source)
        }
    }

    /// The key under which the caches find a request's image, as this pipeline loads it: with its `defaults`, its
    /// `requestModifier` and the user that its downloader's own fields and interceptors name.
    public func key(for request: ImageRequest) -> ImageKey {
        ResolvedRequest(request, for: coordinator).key
    }

    // MARK: - Tasks

    /// Starts a load and returns the handle to it. An image in memory makes a task that has ended already.
    ///
    /// The load goes on when the handle is dropped.
    public func task(for request: ImageRequest) -> ImageTask {
        task(for: ResolvedRequest(request, for: coordinator))
    }

    /// The same for a request that is resolved.
    ///
    /// - Parameter priority: instead of the request's own; nil, the default, is that.
    func task(for resolved: ResolvedRequest, priority: RequestPriority? = nil) -> ImageTask {
        let response = cachedResponse(for: resolved)
        let task = ImageTask(resolved)
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
        task.onEnd { result in delivery.deliver { completion(result) } }
        return task
    }

    /// Ends every load that is under way with `CancellationError`: tasks, and whoever waits for bytes or an encoding.
    ///
    /// It returns at once, and the loads end right after it; what is asked for from then on is loaded. Prefetchers count
    /// what they had under way as failed and go on with the next: `ImagePrefetcher.stop()` ends them. Transfers that others
    /// have begun with the same downloader go on; `ImageDownloader.cancelAll()` ends those too.
    public func cancelAll() {
        JobActor.perform { [coordinator] in coordinator.cancelAll() }
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

    /// The image that can be had on this thread: from memory, or from disk if the request wants that.
    func cachedResponse(for resolved: ResolvedRequest) -> ImageResponse? {
        let watch = Stopwatch()
        var metrics = LoadMetrics()
        var (place, found) = (CachePlace.memory, resolved.imageInMemory)
        if found == nil, resolved.cache.readsDiskSynchronously {
            metrics.misses = [CacheMiss(.memory, resolved.memoryMiss)]
            metrics.lookup = watch.elapsed
            if let onDisk = SynchronousDisk(resolved: resolved).image(&metrics) { (found, place) = onDisk }
        }
        guard let (cached, rule) = found else { return nil }
        metrics.total = watch.elapsed
        metrics.bytes = cached.encodedBytes
        if place == .memory { metrics.lookup = metrics.total }
        let response = resolved.response(
            cached.image, origin: rule.origin(place == .memory ? .memory : .disk), rule: rule, metrics)
        if coordinator.hub.isActive {
            let isKept = place != .memory && resolved.cache.writes.contains(.memory)
            coordinator.hub.report(response, from: place, isKept: isKept)
        }
        return response
    }
}

extension ResolvedRequest {
    /// The finished image in memory and the rule by which it may be used now. On any thread, in under a microsecond.
    var imageInMemory: (CachedImage, CacheRule?)? {
        guard let cached = target.image(for: key, policy: cache),
            case .answers(let rule) = FreshnessCheck(self).verdict(on: cached.http)
        else { return nil }
        return (cached, rule)
    }
}

extension Coordinator {
    /// The source's encoded bytes, by a fetch that is shared with all who ask for them at the same time.
    fileprivate func bytes(of resolved: ResolvedRequest) async throws -> Data {
        let record = begin(resolved.source, priority: resolved.request.priority)
        return try await run(record) { subscription in
            let attempts = SourceAttempts(resolved: resolved, subscription: subscription)
            let fetched = try await attempts.first { resolved in
                do {
                    return try await FetchJob.bytes(of: resolved, for: subscription)
                } catch ImagePipelineError.remembered(.decoding) {
                    // Bytes are wanted, whether or not they are an image.
                    let again = resolved.changing { $0.network.retriesFailures = true }
                    return try await FetchJob.bytes(of: again, for: subscription)
                }
            }
            return (fetched, fetched.provenance)
        }.value.data
    }
}
