import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// A pipeline that loads images from memory, from disk or from the network, decodes them at the size that is needed,
/// processes and stores them.
///
///     let image = try await ImagePipeline.shared.image(for: url)
///
/// Requests that are under way at the same time share the work that they have in common: one transfer per URL, one
/// decode per size, one run of each processor. Any member may be called from any thread.
public final class ImagePipeline: Sendable {
    /// The pipeline that views and callers use unless they name another: one with the default configuration until a program
    /// sets its own. Loads that are under way stay with the pipeline that they began in.
    public static var shared: ImagePipeline {
        get { sharedPipeline.withLock { $0.value } }
        set {
            // Freed outside the lock.
            let former = sharedPipeline.withLock { shared in
                defer { shared.set = newValue }
                return shared.set
            }
            withExtendedLifetime(former) {}
        }
    }

    /// Sets the shared pipeline to one with the default configuration and a program's changes: once, before the first use.
    ///
    ///     try ImagePipeline.bootstrap { $0.changeDownloader { $0.retry.maximumRetries = 5 } }
    ///
    /// A library leaves this to the program that uses it, and takes a pipeline as an argument.
    ///
    /// - Throws: `SharedPipelineError.inUse` if there is a shared pipeline by now: a second call would change nothing for the
    ///   loads, caches and views that have it. The errors of `configure`.
    public static func bootstrap(_ configure: (inout Configuration) throws -> Void) throws {
        try checkUnused(sharedPipeline.withLock { $0.set })
        var configuration = Configuration()
        try configure(&configuration)
        let pipeline = ImagePipeline(configuration: configuration)
        try checkUnused(
            sharedPipeline.withLock { shared in
                defer { if shared.set == nil { shared.set = pipeline } }
                return shared.set
            })
    }

    private static func checkUnused(_ pipeline: ImagePipeline?) throws(SharedPipelineError) {
        if pipeline != nil { throw .inUse }
    }

    private struct SharedPipeline {
        var set: ImagePipeline?
        /// The pipeline that was set, or else one with the default configuration, made at the first use.
        var value: ImagePipeline {
            mutating get {
                if let set { return set }
                let made = ImagePipeline(configuration: Configuration())
                set = made
                return made
            }
        }
    }
    private static let sharedPipeline = Lock(SharedPipeline())

    /// The configuration, which does not change once the pipeline is made.
    public let configuration: Configuration
    /// The cache, with its memory and disk levels.
    public var cache: ImageCache { configuration.cache }
    let coordinator: Coordinator

    /// Creates a pipeline with a configuration, which does not change afterwards.
    public init(configuration: Configuration) {
        self.configuration = configuration
        coordinator = Coordinator(configuration: configuration)
    }

    /// Creates a pipeline with the default configuration and a program's changes.
    ///
    ///     let pipeline = ImagePipeline { $0.coders.add(FarbfeldCoder()) }
    public convenience init(_ configure: (inout Configuration) throws -> Void) rethrows {
        var configuration = Configuration()
        try configure(&configuration)
        self.init(configuration: configuration)
    }

    // MARK: - async

    /// Returns the image of a URL.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` if the awaiting task is cancelled.
    nonisolated(nonsending) public func image(for url: URL?) async throws -> Image {
        try await response(for: ImageRequest(url)).image
    }

    /// Returns the image of a request.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` if the awaiting task is cancelled.
    nonisolated(nonsending) public func image(for request: ImageRequest) async throws -> Image {
        try await response(for: request).image
    }

    /// Returns the image of a request, with its origin and metrics.
    ///
    /// An image in memory is returned without a change of thread, unless the pipeline has interceptors.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` if the awaiting task is cancelled.
    nonisolated(nonsending) public func response(for request: ImageRequest) async throws -> ImageResponse {
        let resolved = ResolvedRequest(request, for: coordinator)
        if !coordinator.isIntercepted, let response = cachedResponse(for: resolved) { return response }
        // Otherwise a load that ends before its end is awaited could still succeed.
        try Task.checkCancellation()
        let task = ImageTask(resolved)
        task.start()
        return try await task.response
    }

    /// Returns the image of a URL, with its origin and metrics, as `response(for:)` of a request does.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` if the awaiting task is cancelled.
    nonisolated(nonsending) public func response(for url: URL?) async throws -> ImageResponse {
        try await response(for: ImageRequest(url))
    }

    /// Starts a load of a URL and returns its events, up to its end. A reader that stops reading cancels the load.
    public func events(for url: URL?) -> AsyncThrowingStream<ImageEvent, any Error> {
        events(for: ImageRequest(url))
    }

    /// Starts a load and returns its events, up to its end. A reader that stops reading cancels the load.
    public func events(for request: ImageRequest) -> AsyncThrowingStream<ImageEvent, any Error> {
        task(for: request).events(cancelsWithReader: true)
    }

    /// Returns the encoded bytes of a URL, from the disk cache or from the server. Nothing is decoded, so nothing is stored.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` if the awaiting task is cancelled.
    public func data(for url: URL?) async throws -> Data {
        try await data(for: ImageRequest(url))
    }

    /// Returns the encoded bytes of a request's source, from the disk cache or from the source. Nothing is decoded, so
    /// nothing is stored.
    ///
    /// - Throws: `ImagePipelineError`; `CancellationError` if the awaiting task is cancelled.
    public func data(for request: ImageRequest) async throws -> Data {
        do {
            return try await coordinator.bytes(of: ResolvedRequest(request, for: coordinator))
        } catch {
            throw ImagePipelineError.wrapping(error, source: request.source)
        }
    }

    /// Returns the key under which the caches find a request's image, as this pipeline loads it: with its `defaults`,
    /// its `requestModifier` and the user that its downloader's own fields and interceptors identify.
    public func key(for request: ImageRequest) -> ImageKey {
        ResolvedRequest(request, for: coordinator).key
    }

    // MARK: - Tasks

    /// Starts a load of a URL and returns its handle, as `task(for:)` of a request does.
    public func task(for url: URL?) -> ImageTask {
        task(for: ImageRequest(url))
    }

    /// Starts a load and returns its handle. An image in memory gives a task that has already ended, unless the pipeline has
    /// interceptors.
    ///
    /// The load goes on if the handle is released.
    public func task(for request: ImageRequest) -> ImageTask {
        task(for: ResolvedRequest(request, for: coordinator))
    }

    /// Starts a load of a resolved request.
    ///
    /// - Parameter priority: the priority in level of the request's own; nil, the default, takes the request's.
    func task(for resolved: ResolvedRequest, priority: RequestPriority? = nil) -> ImageTask {
        let response = coordinator.isIntercepted ? nil : cachedResponse(for: resolved)
        let task = ImageTask(resolved)
        if let priority { task.priority = priority }
        if let response { task.end(.success(response)) } else { task.start() }
        return task
    }

    /// Starts a load of a URL and calls `completion` exactly once with its end.
    ///
    /// - Parameter callbackQueue: where the callback runs; by default on the main queue, always asynchronously.
    @discardableResult
    public func load(
        _ url: URL?, callbackQueue: CallbackQueue = .mainAsync,
        completion: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void
    ) -> ImageTask {
        load(ImageRequest(url), callbackQueue: callbackQueue, completion: completion)
    }

    /// Starts a load and calls `completion` exactly once with its end.
    ///
    /// - Parameter callbackQueue: where the callback runs; by default on the main queue, always asynchronously.
    @discardableResult
    public func load(
        _ request: ImageRequest, callbackQueue: CallbackQueue = .mainAsync,
        completion: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void
    ) -> ImageTask {
        let task = task(for: request)
        task.onEnd { result in callbackQueue.run { completion(result) } }
        return task
    }

    /// Ends every load that is under way with `CancellationError`: tasks, and loads of bytes and encodings.
    ///
    /// It returns at once, and the loads end right after it; requests made from then on are loaded. Prefetchers count
    /// the loads that they had under way as failed and go on with the next: `ImagePrefetcher.stop()` ends them.
    /// Transfers that others have begun with the same downloader go on; `ImageDownloader.cancelAll()` ends those too.
    public func cancelAll() {
        // Behind the loads that were started before.
        JobActor.submit { [coordinator] in coordinator.cancelAll() }
    }

    /// Forgets the remembered failures of one URL, or all if it is nil, so that the next load asks the server again.
    ///
    /// Those that `RememberedFailures.keepsOnDisk` has stored are removed from the caches of the configuration: that of one
    /// URL before this returns, all of them in the background, and until then they are ignored.
    public func forgetFailures(_ url: URL? = nil) {
        coordinator.forgetFailures(url)
    }

    /// The number of remembered failures, some of which may have expired.
    package var rememberedFailureCount: Int { coordinator.failures.count }

    /// The number of loads of image tasks that are running.
    public var runningCount: Int {
        get async { await coordinator.runningCount }
    }

    /// Returns whether at least `count` loads are running and all wait for bytes. Tests use it to see that all have
    /// joined.
    package func isWaitingForBytes(_ count: Int) async -> Bool {
        await coordinator.isWaitingForBytes(count)
    }

    /// The number of readers of `events`. Tests use it to see that one has begun, or has ended.
    package var readerCount: Int { coordinator.hub.count }

    /// The number of jobs under way at all stages. Tests use it to see it return to zero.
    package var jobCount: Int {
        get async { await coordinator.jobCount }
    }

    /// Writes all pending entries to disk, within a time limit. A program calls it before it exits.
    ///
    /// - Returns: whether everything was written in time.
    @discardableResult
    public func shutdown(within time: Duration = .seconds(2)) async -> Bool {
        // The caches are written in parallel, since each may take all of the time.
        async let originals = configuration.originalCache?.shutdown(within: time)
        let isDone = await cache.shutdown(within: time)
        return await originals ?? true && isDone
    }

    /// Returns the response that can be made on this thread: from memory, or from disk if the request wants that.
    func cachedResponse(for resolved: ResolvedRequest) -> ImageResponse? {
        let watch = Stopwatch()
        var metrics = LoadMetrics()
        var (level, found) = (CacheLevel.memory, resolved.imageInMemory)
        if found == nil, resolved.cachePolicy.readsDiskSynchronously {
            metrics.misses = [CacheMiss(.memory, resolved.memoryMiss)]
            metrics.lookup = watch.elapsed
            if let onDisk = SynchronousDisk(resolved: resolved).image(&metrics) {
                (found, level) = onDisk
                resolved.target.countMiss(resolved.cachePolicy)
            }
        }
        guard let (cached, rule) = found else { return nil }
        metrics.total = watch.elapsed
        metrics.bytes = cached.encodedBytes
        if level == .memory { metrics.lookup = metrics.total }
        let response = resolved.response(
            cached.image, origin: rule.origin(level == .memory ? .memory : .disk), rule: rule, metrics)
        if coordinator.hub.isActive(for: level) {
            let isKept = level != .memory && resolved.cachePolicy.writes.contains(.memory)
            coordinator.hub.report(response, from: level, isKept: isKept)
        }
        return response
    }
}

extension ResolvedRequest {
    /// The finished image in memory and the rule by which it may be used now. Callable on any thread, in under a
    /// microsecond.
    var imageInMemory: (CachedImage, CacheRule?)? {
        guard let cached = target.image(for: key, policy: cachePolicy),
            case .answers(let rule) = FreshnessCheck(self).verdict(on: cached.http)
        else { return nil }
        return (cached, rule)
    }
}

extension Coordinator {
    /// Returns the source's encoded bytes, by a fetch that is shared by all callers that ask for them at the same time.
    fileprivate func bytes(of resolved: ResolvedRequest) async throws -> Data {
        let record = begin(resolved.source, priority: resolved.request.priority)
        return try await run(record) { subscription in
            // The caller wants the bytes, whether or not they are an image within the limits.
            let unlimited = resolved.changing { $0.network.stopsAtLimits = false }
            let attempts = SourceAttempts(resolved: unlimited, subscription: subscription)
            let fetched = try await attempts.first { resolved in
                do {
                    return try await FetchJob.bytes(of: resolved, for: subscription)
                } catch ImagePipelineError.remembered(.decoding) {
                    let again = resolved.changing { $0.network.retriesFailures = true }
                    return try await FetchJob.bytes(of: again, for: subscription)
                }
            }
            return (fetched, fetched.provenance)
        }.value.data
    }
}
