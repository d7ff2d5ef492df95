import HalcyonSystem

/// The jobs of one stage that are under way, by their key.
///
/// A caller that asks for a key that is under way joins its job. Each subscriber leaves on its own, and the last one
/// cancels the job. A cancelled job leaves the pool in the same step, so that nothing joins it any more.
@JobActor
final class JobPool<Key: Hashable & Sendable, Output: Sendable> {
    private var jobs: [Key: SharedJob<Output>] = [:]

    nonisolated init() {}

    var count: Int { jobs.count }

    /// The number of subscribers that wait for one of the jobs.
    var waiterCount: Int { jobs.values.reduce(0) { $0 + $1.waiterCount } }

    func isUnderWay(_ key: Key) -> Bool { jobs[key] != nil }

    /// Returns the result of the job that is under way for `key`, or of a new one that does `work`.
    ///
    /// - Throws: the errors of the work; `CancellationError` at once if the awaiting task or the subscription is
    ///   cancelled, whether or not other subscribers still wait.
    func value(
        for key: Key, _ subscription: Subscription,
        work: @escaping @JobActor @Sendable (Subscription) async throws -> Output
    ) async throws -> Output {
        let wait = SharedJob<Output>.Wait(subscription)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled || subscription.isCancelled {
                    return continuation.resume(throwing: CancellationError())
                }
                job(for: key, priority: subscription.priority, work).add(wait, continuation)
            }
        } onCancel: {
            // The wait has begun before the actor can run this, or never begins.
            JobActor.perform { wait.leave() }
        }
    }

    private func job(
        for key: Key, priority: RequestPriority,
        _ work: @escaping @JobActor @Sendable (Subscription) async throws -> Output
    ) -> SharedJob<Output> {
        if let job = jobs[key] { return job }
        let job = SharedJob<Output>(priority: priority)
        jobs[key] = job
        job.start(work) { [weak self, weak job] in
            if let self, self.jobs[key] === job { self.jobs[key] = nil }
        }
        return job
    }
}

/// A job with its subscribers.
@JobActor
private final class SharedJob<Output: Sendable> {
    /// The wait of one subscriber.
    final class Wait: JobWait {
        let subscription: Subscription
        private weak var job: SharedJob?
        private var continuation: CheckedContinuation<Output, any Error>?
        private var link = 0
        /// The priority that the job counts for the subscription.
        private var counted = RequestPriority.normal

        init(_ subscription: Subscription) {
            self.subscription = subscription
        }

        func begin(_ job: SharedJob, _ continuation: CheckedContinuation<Output, any Error>) {
            (self.job, self.continuation, counted) = (job, continuation, subscription.priority)
            link = subscription.follow { [weak self] priority in
                guard let self else { return }
                self.job?.change(self.counted, to: priority)
                self.counted = priority
            }
            subscription.add(self)
        }

        func end(_ result: Result<Output, any Error>) {
            guard let continuation else { return }
            self.continuation = nil
            subscription.unfollow(link)
            subscription.remove(self)
            continuation.resume(with: result)
        }

        func leave() {
            guard continuation != nil else { return }
            job?.remove(self, counted)
            end(.failure(CancellationError()))
        }
    }

    private var waits: [ObjectIdentifier: Wait] = [:]
    private var priorities = PriorityTally()
    private var history = JobHistory()
    private var subscription: Subscription?
    private let priority: RequestPriority
    private var task: Task<Void, Never>?
    /// Removes the job from its pool; nil afterwards.
    private var removal: (@JobActor () -> Void)?

    init(priority: RequestPriority) {
        self.priority = priority
    }

    var waiterCount: Int { waits.count }

    func start(
        _ work: @escaping @JobActor @Sendable (Subscription) async throws -> Output,
        removal: @escaping @JobActor () -> Void
    ) {
        self.removal = removal
        let own = Subscription(priority: priority) { [weak self] in self?.publish($0) }
        subscription = own
        task = Task {
            let result: Result<Output, any Error>
            do {
                result = .success(try await work(own))
            } catch {
                result = .failure(error)
            }
            self.end(result)
        }
    }

    func add(_ wait: Wait, _ continuation: CheckedContinuation<Output, any Error>) {
        waits[ObjectIdentifier(wait)] = wait
        wait.begin(self, continuation)
        priorities.add(wait.subscription.priority)
        updatePriority()
        for event in history.events { wait.subscription.send(event) }
    }

    /// Removes a wait. Removing the last one cancels the job.
    func remove(_ wait: Wait, _ priority: RequestPriority) {
        waits[ObjectIdentifier(wait)] = nil
        priorities.remove(priority)
        updatePriority()
        guard waits.isEmpty else { return }
        leavePool()
        task?.cancel()
    }

    func change(_ former: RequestPriority, to priority: RequestPriority) {
        priorities.remove(former)
        priorities.add(priority)
        updatePriority()
    }

    /// A job without subscribers keeps the priority that it had.
    private func updatePriority() {
        if let highest = priorities.highest { subscription?.setPriority(highest) }
    }

    private func publish(_ event: JobEvent) {
        history.add(event)
        for wait in waits.values { wait.subscription.send(event) }
    }

    private func end(_ result: Result<Output, any Error>) {
        leavePool()
        let ended = waits
        (waits, priorities, history) = ([:], PriorityTally(), JobHistory())
        for wait in ended.values { wait.end(result) }
    }

    private func leavePool() {
        removal?()
        removal = nil
    }
}

/// The earlier events of a job, which a subscriber receives when it joins late.
private struct JobHistory {
    private var progress: JobEvent?
    private var body: JobEvent?
    private var preview: JobEvent?
    private var stale: JobEvent?
    private var notes: [JobEvent] = []

    mutating func add(_ event: JobEvent) {
        switch event {
        case .progress: progress = event
        case .body: body = event
        case .preview: preview = event
        // A subscriber that joins now would begin to decode the body a second time.
        case .arrived: (body, stale) = (nil, nil)
        case .stale: stale = event
        case .note: notes.append(event)
        }
    }

    var events: [JobEvent] { notes + [progress, stale, body, preview].compactMap { $0 } }
}
