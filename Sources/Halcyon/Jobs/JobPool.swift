import HalcyonSystem

/// The jobs of one stage that are under way, by their key.
///
/// A caller that asks for a key that is under way joins its job. Each subscriber leaves on its own, and the last one
/// cancels the job.
@JobActor
final class JobPool<Key: Hashable & Sendable, Output: Sendable> {
    /// A job's own subscription, for what it waits for, and its work.
    private struct Job {
        let subscription: Subscription
        let work: Task<Void, Never>
    }

    private var jobs = SharedWork<Key, Wait, Job, JobHistory>()

    /// The threads of the pipeline, for the subscriptions of jobs.
    private let threads: ThreadPool

    nonisolated init(_ threads: ThreadPool) {
        self.threads = threads
    }

    var count: Int { jobs.count }

    /// The number of subscribers that wait for one of the jobs.
    var waiterCount: Int { jobs.subscriberCount }

    func isUnderWay(_ key: Key) -> Bool { jobs.isUnderWay(key) }

    /// Returns the result of the job that is under way for `key`, or of a new one that does `work`.
    ///
    /// - Throws: the errors of the work; `CancellationError` at once if the awaiting task or the subscription is
    ///   cancelled, whether or not other subscribers still wait.
    func value(
        for key: Key, _ subscription: Subscription,
        work: @escaping @JobActor @Sendable (Subscription) async throws -> Output
    ) async throws -> Output {
        let wait = Wait(jobs.nextID(), for: self, subscription)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                begin(wait, for: key, work: work) { continuation.resume(with: $0) }
            }
        } onCancel: {
            // The wait has begun before the actor can run this, or never begins.
            JobActor.perform { wait.cancel() }
        }
    }

    /// Joins the job that is under way for `key`, or a new one that does `work`, without a task that waits for it.
    ///
    /// - Parameter end: called once, with the result of the job, or with `CancellationError` as soon as the subscription
    ///   is cancelled.
    func join(
        _ key: Key, _ subscription: Subscription,
        work: @escaping @JobActor @Sendable (Subscription) async throws -> Output,
        end: @escaping @JobActor (Result<Output, any Error>) -> Void
    ) {
        begin(Wait(jobs.nextID(), for: self, subscription), for: key, work: work, end: end)
    }

    private func begin(
        _ wait: Wait, for key: Key, work: @escaping @JobActor @Sendable (Subscription) async throws -> Output,
        end: @escaping @JobActor (Result<Output, any Error>) -> Void
    ) {
        if wait.subscription.isCancelled { return end(.failure(CancellationError())) }
        wait.begin(end)
        join(key, wait, work)
    }

    private func join(
        _ key: Key, _ wait: Wait, _ work: @escaping @JobActor @Sendable (Subscription) async throws -> Output
    ) {
        let joined = jobs.join(key, as: wait.id, wait, priority: wait.subscription.priority)
        if joined.isNew {
            start(joined.work, priority: wait.subscription.priority, work)
        } else if let priority = joined.priority {
            jobs.handle(of: joined.work)?.subscription.setPriority(priority)
        }
        for event in joined.replay { wait.subscription.send(event) }
    }

    private func start(
        _ id: Int, priority: RequestPriority,
        _ work: @escaping @JobActor @Sendable (Subscription) async throws -> Output
    ) {
        // Retains the pool until the job ends, as its task does.
        let subscription = Subscription(priority: priority, threads: threads) { [self] event in
            for wait in jobs.record(event, of: id) { wait.subscription.send(event) }
        }
        let task = Task {
            let result: Result<Output, any Error>
            do {
                result = .success(try await work(subscription))
            } catch {
                result = .failure(error)
            }
            guard let job = jobs.end(id) else { return }
            for wait in job.subscribers { wait.end(result) }
        }
        _ = jobs.setHandle(Job(subscription: subscription, work: task), of: id)
    }

    private func leave(_ wait: Wait) {
        guard let left = jobs.leave(wait.id) else { return }
        if let priority = left.priority { jobs.handle(of: left.work)?.subscription.setPriority(priority) }
        left.abandoned?.handle?.work.cancel()
        wait.end(.failure(CancellationError()))
    }

    private func setPriority(_ priority: RequestPriority, of wait: Wait) {
        guard let changed = jobs.setPriority(priority, of: wait.id) else { return }
        jobs.handle(of: changed.work)?.subscription.setPriority(changed.priority)
    }

    /// The wait of one subscriber.
    private final class Wait: SubscribedWork {
        let id: Int
        let subscription: Subscription
        private let pool: JobPool
        private var onEnd: (@JobActor (Result<Output, any Error>) -> Void)?

        init(_ id: Int, for pool: JobPool, _ subscription: Subscription) {
            (self.id, self.pool, self.subscription) = (id, pool, subscription)
        }

        func begin(_ onEnd: @escaping @JobActor (Result<Output, any Error>) -> Void) {
            self.onEnd = onEnd
            subscription.add(self)
        }

        func end(_ result: Result<Output, any Error>) {
            subscription.remove(self)
            // Cleared before it is called, since the caller may do anything.
            let onEnd = onEnd
            self.onEnd = nil
            onEnd?(result)
        }

        func setPriority(_ priority: RequestPriority) { pool.setPriority(priority, of: self) }

        /// Ends the wait with `CancellationError`. The last subscriber that leaves cancels the job.
        func cancel() { pool.leave(self) }
    }
}

/// The earlier events of a job, which a subscriber receives when it joins late.
private struct JobHistory: EventHistory {
    private var progress: JobEvent?
    private var body: JobEvent?
    private var preview: JobEvent?
    private var stale: JobEvent?
    private var notes: [JobEvent] = []

    mutating func add(_ event: JobEvent) {
        switch event {
        case .progress: progress = event
        case .body: body = event
        case .preview, .delivered: preview = event
        // A subscriber that joins now would begin to decode the body a second time.
        case .arrived: (body, stale) = (nil, nil)
        case .stale: stale = event
        case .note: notes.append(event)
        }
    }

    var events: [JobEvent] { notes + [progress, stale, body, preview].compactMap { $0 } }
}
