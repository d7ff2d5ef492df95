import HalcyonSystem

/// Brings images to the caches before anybody asks for them: a list of requests, a few at a time, once.
///
///     let prefetcher = ImagePrefetcher(urls.map { ImageRequest($0) })
///     let outcome = await prefetcher.run()
///
/// What is there already is skipped without a transfer. A request that fails does not end the others. The list may be
/// long: beside it, each request costs a byte, and there are never more tasks than run at once. Every member may be used
/// from any thread and returns at once, but for those that wait for the end.
///
/// A prefetch that was started goes on when the prefetcher is dropped.
public final class ImagePrefetcher: Sendable {
    public let pipeline: ImagePipeline
    public let destination: Destination
    /// Loads at the same time.
    public let concurrency: Int

    private struct State {
        var prefetch: PrefetchState
        var lastID = 0
        /// Nil is the end.
        var readers: [Int: DeliveryQueue<Progress?>] = [:]
        var waiters: [Int: CheckedContinuation<Outcome, any Error>] = [:]
    }

    private let state: Lock<State>
    private let urgency: PrefetchPriority

    /// - Parameters:
    ///   - requests: any sources with any processors. Their own priorities and wishes for previews do not count here.
    ///   - pipeline: the shared one by default.
    ///   - destination: the disk by default. Then requests whose bytes the disk never keeps are skipped: local sources, a
    ///     policy that does not write the disk, a pipeline without one.
    ///   - concurrency: loads at the same time, at least 1; 5 by default.
    ///   - priority: `.low` by default.
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

    // MARK: - Steering

    /// Starts the prefetch; a second call does nothing, nor does one after `stop()`. An empty list ends here.
    public func start() {
        state.withLock { $0.prefetch.start() }
        advance()
    }

    /// Starts nothing more from now on. What is being loaded goes on.
    public func pause() {
        state.withLock { $0.prefetch.isPaused = true }
    }

    /// Goes on after a pause.
    public func resume() {
        state.withLock { $0.prefetch.isPaused = false }
        advance()
    }

    /// Ends the prefetch: no load is started from now on, also not for those that are only being looked up; those that
    /// are under way are cancelled and count as failed. For good.
    public func stop() {
        for worker in state.withLock({ $0.prefetch.stop() }) { worker.cancel() }
        advance()
    }

    /// How urgent all of its loads are. A change reaches those that are under way.
    public var priority: RequestPriority {
        get { urgency.value }
        set { urgency.value = newValue }
    }

    // MARK: - Watching

    /// Starts the prefetch and waits for its end. Cancelling the task that waits here stops it.
    public func run() async -> Outcome {
        await withTaskCancellationHandler {
            // In here: a task that is cancelled already has stopped it.
            start()
            // A task of its own: the wait goes on, until what is under way has ended.
            let end = Task { try await outcome }
            return (try? await end.value) ?? state.withLock { $0.prefetch.outcome }
        } onCancel: {
            stop()
        }
    }

    /// What became of the requests, once the prefetch has ended; it must have been started or stopped for that.
    ///
    /// - Throws: `CancellationError` when the awaiting task is cancelled; the prefetch goes on.
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

    /// The counts now, then after each request that ended, to the end of the prefetch. Any number of readers; what a slow
    /// one has not read yet is kept for it, 32 bytes each.
    public var progress: AsyncStream<Progress> {
        let id = makeID()
        return AsyncStream { continuation in
            let reader = DeliveryQueue<Progress?> { progress in
                if let progress { continuation.yield(progress) } else { continuation.finish() }
            }
            continuation.onTermination = { [state] _ in
                // Freed outside of the lock.
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

    /// Starts the workers that may run, or ends the prefetch where nothing is left.
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
