import HalcyonSystem

/// The jobs of one level of the graph that are under way, by what they make.
///
/// Whoever asks for a key that is under way joins it; each subscriber leaves by itself, and the last one out cancels.
/// A cancelled job leaves the pool in the same step, so nobody joins a dying one. Confined to the coordinator.
final class JobPool<Key: Hashable & Sendable, Output: Sendable> {
    typealias Work = @Sendable (isolated Coordinator, Demand) async throws -> Output

    private final class Job {
        struct Subscriber {
            let demand: Demand
            let link: Int
            /// The demand's, as it is counted.
            var priority: RequestPriority
            let continuation: CheckedContinuation<Output, any Error>
        }

        private(set) var subscribers: [Int: Subscriber] = [:]
        private var priorities = PriorityTally()
        var demand: Demand?
        var task: Task<Void, Never>?
        /// Kept for who joins late.
        var latestProgress: LoadProgress?
        var latestBody: JobEvent?
        var latestPreview: JobEvent?
        var stale: JobEvent?
        /// A load that joins late has had all of it.
        var notes: [JobEvent] = []

        func publish(_ event: JobEvent) {
            switch event {
            case .progress(let progress): latestProgress = progress
            case .body: latestBody = event
            case .preview: latestPreview = event
            // Who joins now would begin to decode it a second time.
            case .arrived: (latestBody, stale) = (nil, nil)
            case .stale: stale = event
            case .note: notes.append(event)
            }
            for subscriber in subscribers.values { subscriber.demand.send(event) }
        }

        func replay(to demand: Demand) {
            for note in notes { demand.send(note) }
            if let latestProgress { demand.send(.progress(latestProgress)) }
            if let stale { demand.send(stale) }
            if let latestBody { demand.send(latestBody) }
            if let latestPreview { demand.send(latestPreview) }
        }

        func add(_ number: Int, _ subscriber: Subscriber) {
            subscribers[number] = subscriber
            priorities.add(subscriber.priority)
            updatePriority()
        }

        func remove(_ number: Int) -> Subscriber? {
            guard let subscriber = subscribers.removeValue(forKey: number) else { return nil }
            priorities.remove(subscriber.priority)
            updatePriority()
            return subscriber
        }

        func removeAll() -> [Int: Subscriber] {
            defer { (subscribers, priorities) = ([:], PriorityTally()) }
            return subscribers
        }

        func setPriority(_ priority: RequestPriority, of number: Int) {
            guard let former = subscribers[number]?.priority else { return }
            subscribers[number]?.priority = priority
            priorities.remove(former)
            priorities.add(priority)
            updatePriority()
        }

        /// Without anybody it stays what it was.
        private func updatePriority() {
            if let highest = priorities.highest { demand?.setPriority(highest) }
        }
    }

    private var jobs: [Key: Job] = [:]

    var count: Int { jobs.count }

    /// How many wait for one of them.
    var waiterCount: Int { jobs.values.reduce(0) { $0 + $1.subscribers.count } }

    func isUnderWay(_ key: Key) -> Bool { jobs[key] != nil }

    /// The result for `key`: of the job that is under way, else of a new one that does `work`.
    ///
    /// - Throws: what the work throws; `CancellationError` at once when the awaiting task is cancelled, whether or not
    ///   others still wait.
    func value(
        for key: Key, demand: Demand, isolation coordinator: isolated Coordinator, work: @escaping Work
    ) async throws -> Output {
        let subscriber = coordinator.makeSubscriber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                let job = join(key, coordinator: coordinator, demand: demand, work: work)
                let link = demand.follow { [weak job] in job?.setPriority($0, of: subscriber) }
                job.add(
                    subscriber,
                    .init(demand: demand, link: link, priority: demand.priority, continuation: continuation))
                coordinator.setLeave(subscriber) { [weak self, weak job] in
                    guard let job else { return }
                    self?.leave(subscriber, of: job, key: key)
                }
                job.replay(to: demand)
            }
        } onCancel: {
            // The continuation is registered before the coordinator can run this, or never. On the coordinator itself, as
            // when a job is cancelled that waits for this one, it happens in the same step, down the whole graph.
            coordinator.perform { $0.leave(subscriber) }
        }
    }

    private func join(_ key: Key, coordinator: isolated Coordinator, demand: Demand, work: @escaping Work) -> Job {
        if let job = jobs[key] { return job }
        let job = Job()
        let ownDemand = Demand(priority: demand.priority) { [weak job] in job?.publish($0) }
        job.demand = ownDemand
        jobs[key] = job
        job.task = Task {
            let result: Result<Output, any Error>
            do {
                result = .success(try await work(coordinator, ownDemand))
            } catch {
                result = .failure(error)
            }
            finish(job, key: key, result, coordinator: coordinator)
        }
        return job
    }

    private func finish(
        _ job: Job, key: Key, _ result: Result<Output, any Error>, coordinator: isolated Coordinator
    ) {
        if jobs[key] === job { jobs[key] = nil }
        for (number, subscriber) in job.removeAll() {
            coordinator.setLeave(number, nil)
            subscriber.demand.unfollow(subscriber.link)
            subscriber.continuation.resume(with: result)
        }
    }

    private func leave(_ number: Int, of job: Job, key: Key) {
        guard let subscriber = job.remove(number) else { return }
        subscriber.demand.unfollow(subscriber.link)
        if job.subscribers.isEmpty {
            if jobs[key] === job { jobs[key] = nil }
            job.task?.cancel()
        }
        subscriber.continuation.resume(throwing: CancellationError())
    }
}
