import Foundation
import HalcyonSystem

/// A prefetcher that loads a list of requests into the caches before they are needed: a few at a time, each once.
///
///     let prefetcher = ImagePrefetcher(urls)
///     let outcome = await prefetcher.run()
///
/// Cached images are skipped without a transfer. A request that fails does not end the others. The list may be long: besides
/// the list itself, each request costs one byte, and there are never more tasks than loads that run at once. Every member may
/// be used from any thread and returns at once, except those that wait for the end.
///
/// A prefetch that was started continues when the prefetcher is released.
public final class ImagePrefetcher: Sendable {
    /// The pipeline that loads the requests.
    public let pipeline: ImagePipeline
    /// The destination of the images. The disk by default.
    public let destination: Destination
    /// The number of concurrent loads.
    public let concurrency: Int

    private struct State {
        var prefetch: PrefetchState
        var lastID = 0
        /// The progress readers; nil in a queue ends its stream.
        var readers: [Int: DeliveryQueue<Progress?>] = [:]
        var waiters: [Int: CheckedContinuation<Outcome, any Error>] = [:]
    }

    private let state: Lock<State>
    private let urgency: PrefetchPriority

    /// Creates a prefetcher.
    ///
    /// - Parameters:
    ///   - requests: requests with any sources and processors. Their own priorities and preview options are ignored.
    ///   - pipeline: the pipeline that loads them; the shared one by default.
    ///   - destination: the destination of the images; the disk by default. Then requests of which the disk never has anything
    ///     are skipped: those whose policy does not write the disk, those of a pipeline without a disk cache, those of files and
    ///     of bytes at hand unless the policy stores finished images, and those of providers without `diskLevels`.
    ///   - concurrency: the number of concurrent loads, at least 1; 5 by default.
    ///   - priority: the priority of the loads; `.low` by default.
    public init(
        _ requests: [ImageRequest], pipeline: ImagePipeline = .shared, destination: Destination = .disk,
        concurrency: Int = 5, priority: RequestPriority = .low
    ) {
        self.pipeline = pipeline
        self.destination = destination
        self.concurrency = max(1, concurrency)
        urgency = PrefetchPriority(priority)
        state = Lock(State(prefetch: PrefetchState(requests)))
    }

    /// Creates a prefetcher for a list of URLs; the other parameters are those of the initializer for requests.
    @_disfavoredOverload
    public convenience init(
        _ urls: [URL], pipeline: ImagePipeline = .shared, destination: Destination = .disk, concurrency: Int = 5,
        priority: RequestPriority = .low
    ) {
        // Disfavoured, so that an empty literal is a list of requests and not ambiguous.
        self.init(
            urls.map { ImageRequest($0) }, pipeline: pipeline, destination: destination, concurrency: concurrency,
            priority: priority)
    }

    // MARK: - Control

    /// Starts the prefetch. A second call does nothing, nor does a call after `stop()`. An empty list ends at once.
    public func start() {
        state.withLock { $0.prefetch.start() }
        advance()
    }

    /// Pauses the prefetch: no further load is started. Loads in progress continue.
    public func pause() {
        state.withLock { $0.prefetch.isPaused = true }
    }

    /// Continues after a pause.
    public func resume() {
        state.withLock { $0.prefetch.isPaused = false }
        advance()
    }

    /// Stops the prefetch permanently: no load is started any more, including those of requests that are still being looked up.
    /// Loads in progress are cancelled and count as failed.
    public func stop() {
        for worker in state.withLock({ $0.prefetch.stop() }) { worker.cancel() }
        advance()
    }

    /// The priority of all loads. A change applies to loads in progress.
    public var priority: RequestPriority {
        get { urgency.value }
        set { urgency.value = newValue }
    }

    // MARK: - Progress and outcome

    /// Starts the prefetch and waits for its end. Cancelling the waiting task stops the prefetch.
    public func run() async -> Outcome {
        await withTaskCancellationHandler {
            // Started within the handler: if the task is already cancelled, the prefetch has been stopped before.
            start()
            // A separate task, so that the wait continues until the loads in progress have ended.
            let end = Task { try await outcome }
            return (try? await end.value) ?? state.withLock { $0.prefetch.outcome }
        } onCancel: {
            stop()
        }
    }

    /// The results of the requests, once the prefetch has ended, for which it must have been started or stopped.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled; the prefetch continues.
    public var outcome: Outcome {
        get async throws {
            let id = makeID()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { wait(id, $0) }
            } onCancel: {
                let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
                waiter?.resume(throwing: CancellationError())
            }
        }
    }

    /// A stream of the current counts, and then the counts after each request that ends, until the end of the prefetch. It
    /// allows any number of readers; the values that a slow reader has not read yet are kept for it, 32 bytes each.
    public var progress: AsyncStream<Progress> {
        let id = makeID()
        return AsyncStream { continuation in
            let reader = DeliveryQueue<Progress?> { progress in
                if let progress { continuation.yield(progress) } else { continuation.finish() }
            }
            continuation.onTermination = { [state] _ in
                // Released outside the lock.
                let gone = state.withLock { $0.readers.removeValue(forKey: id) }
                withExtendedLifetime(gone) {}
            }
            state.withLock { state in
                reader.add(state.prefetch.progress)
                if state.prefetch.hasEnded { reader.add(nil) } else { state.readers[id] = reader }
            }
            reader.deliver()
        }
    }

    private func makeID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    private func wait(_ id: Int, _ continuation: CheckedContinuation<Outcome, any Error>) {
        let answer = state.withLock { state -> Result<Outcome, any Error>? in
            if Task.isCancelled { return .failure(CancellationError()) }
            if state.prefetch.hasEnded { return .success(state.prefetch.outcome) }
            state.waiters[id] = continuation
            return nil
        }
        if let answer { continuation.resume(with: answer) }
    }

    // MARK: - Workers

    /// Starts the workers that may run, or ends the prefetch if nothing is left to do.
    private func advance() {
        let ended = state.withLock { state -> (Outcome, State)? in
            state.prefetch.fill(upTo: concurrency) { number in Task { await self.work(as: number) } }
            guard let outcome = state.prefetch.finish() else { return nil }
            defer { (state.readers, state.waiters) = ([:], [:]) }
            return (outcome, state)
        }
        guard let (outcome, last) = ended else { return }
        for reader in last.readers.values {
            reader.add(nil)
            reader.deliver()
        }
        for waiter in last.waiters.values { waiter.resume(returning: outcome) }
    }

    private func work(as number: Int) async {
        while let (index, request) = state.withLock({ $0.prefetch.take(by: number) }) {
            let end = await PrefetchJob.run(
                request, to: destination, urgency: urgency, in: pipeline.coordinator
            ) { [state] in state.withLock { $0.prefetch.mayLoad(index) } }
            let readers = state.withLock { state -> [DeliveryQueue<Progress?>] in
                guard state.prefetch.end(index, end) else { return [] }
                for reader in state.readers.values { reader.add(state.prefetch.progress) }
                return Array(state.readers.values)
            }
            for reader in readers { reader.deliver() }
        }
        advance()
    }
}

extension ImagePrefetcher {
    /// The destination of a prefetcher's images.
    public enum Destination: Sendable, Hashable, CaseIterable {
        /// The disk cache, for the source's bytes. They are stored once their header has proved to be that of an image within
        /// the request's limits; no pixels are decoded, unless the request's policy stores finished images on the disk.
        case disk
        /// Memory, for the finished image, and the disk for whatever the request's policy stores there.
        case memory
    }
}

extension ImagePrefetcher {
    /// The number of requests that have ended, by result.
    public struct Progress: Sendable, Hashable {
        /// The number of requests that were cached already, or that the destination does not store.
        public var skipped = 0
        /// The number of requests that failed, including those that were loading when the prefetcher was stopped.
        public var failed = 0
        /// The number of requests that were loaded.
        public var completed = 0
        /// The number of all requests.
        public var total: Int

        /// Creates counts, which are 0 by default except for `total`.
        package init(skipped: Int = 0, failed: Int = 0, completed: Int = 0, total: Int) {
            self.skipped = skipped
            self.failed = failed
            self.completed = completed
            self.total = total
        }
    }
}

extension ImagePrefetcher {
    /// The results of all requests, in the order of the requests. Each request is in one of the four lists.
    public struct Outcome: Sendable {
        /// The requests that were loaded.
        public var finished: [ImageRequest] = []
        /// The requests that were cached already, or that the destination does not store.
        public var skipped: [ImageRequest] = []
        /// The requests that failed; those that were loading when the prefetcher was stopped failed with `CancellationError`.
        public var failed: [Failure] = []
        /// The requests that `stop()` left before anything was loaded for them.
        public var notStarted: [ImageRequest] = []

        /// Creates an outcome with empty lists.
        package init() {}
    }

    /// A request that failed, and its error.
    public struct Failure: Sendable {
        /// The request that failed.
        public let request: ImageRequest
        /// An `ImagePipelineError` or `ImagePrefetchError`; `CancellationError` if the load was cancelled by `stop()`, by
        /// cancelling all of the pipeline's loads, or by cancelling the downloader's transfers.
        public let error: any Error

        /// Creates a failure from its request and error.
        package init(request: ImageRequest, error: any Error) {
            self.request = request
            self.error = error
        }
    }
}

/// The reason why a prefetch failed although its load succeeded.
public enum ImagePrefetchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes were loaded, but the disk does not have them: the server forbids storing them, or they could not be written.
    /// The source is named without its query.
    case notKept(source: String)

    public var description: String {
        switch self {
        case .notKept(let source): "\(source): the disk cache does not keep it"
        }
    }
}

extension ImagePrefetchError: LocalizedError {
    public var errorDescription: String? { description }
}
