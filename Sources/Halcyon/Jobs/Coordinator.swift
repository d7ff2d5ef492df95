import HalcyonCodecs
import HalcyonSystem

/// The bookkeeping of one pipeline: which jobs are under way and who waits for them.
///
/// Nothing here blocks: files go to `ExecutionDomains.io`, codecs and processors to `ExecutionDomains.cpu`, transfers to
/// the transport's thread. It has a thread of its own, since a default actor that is reached under a task executor
/// preference would run wherever the preference says.
actor Coordinator {
    nonisolated let executor: SerialThreadExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let configuration: ImagePipeline.Configuration

    let loads = JobPool<LoadKey, LoadedImage>()
    let steps = JobPool<LoadKey, DecodedImage>()
    let decodes = JobPool<DecodeKey, DecodedImage>()
    let fetches = JobPool<FetchKey, FetchedData>()
    let encodes = JobPool<EncodeKey, EncodedAnswer>()

    /// What fetches brought and somebody still works with: a request that comes between the end of a fetch and the store
    /// of its bytes finds them here, and does not ask the server a second time.
    private var recentFetches: [FetchKey: WeakFetch] = [:]
    private var recentFetchLimit = 64
    /// Loads that ask the server behind an answer that was given already.
    var revalidations: Set<LoadKey> = []
    nonisolated let failures = FailureMemory()
    nonisolated let hub: EventHub
    private var running: [ObjectIdentifier: Running] = [:]
    /// Of the loads of prefetchers, whose priority is that of all of a prefetcher's.
    var prefetchDemands: [ObjectIdentifier: [Int: Demand]] = [:]
    private var leaves: [Int: () -> Void] = [:]
    /// How often `cancelAll` was called.
    private(set) var cancellations = 0
    /// Of transfers that are under way.
    var observed: [Int: Demand] = [:]
    private var lastSubscriber = 0

    init(configuration: ImagePipeline.Configuration) {
        self.configuration = configuration
        hub = EventHub(logger: configuration.logger)
        executor = SerialThreadExecutor(name: "halcyon-jobs")
    }

    // MARK: - Subscribers

    func makeSubscriber() -> Int {
        lastSubscriber += 1
        return lastSubscriber
    }

    /// What to do when the subscriber's own task is cancelled; nil once there is nothing to leave.
    func setLeave(_ subscriber: Int, _ leave: (() -> Void)?) {
        leaves[subscriber] = leave
    }

    func leave(_ subscriber: Int) {
        leaves.removeValue(forKey: subscriber)?()
    }

    // MARK: - Tasks

    private struct Running {
        let task: ImageTask
        let demand: Demand
        let work: Task<Void, Never>
    }

    /// Runs `body` on the coordinator: now where the caller is on it, else after everything that was asked for before.
    ///
    /// The order is what makes "cancel, then ask again" a new load: a `Task` would not keep it.
    nonisolated func perform(_ body: @escaping @Sendable (isolated Coordinator) -> Void) {
        if executor.isCurrent { return assumeIsolated(body) }
        executor.submit { self.assumeIsolated(body) }
    }

    func start(_ task: ImageTask) {
        guard !task.hasEnded else { return }
        let record = LoadRecord(hub, source: task.request.source)
        let demand = Demand(priority: task.priority) {
            record.take($0)
            task.receive($0)
        }
        let work = Task { await self.run(task, demand: demand, record) }
        running[ObjectIdentifier(task)] = Running(task: task, demand: demand, work: work)
    }

    func cancel(_ task: ImageTask) {
        running[ObjectIdentifier(task)]?.work.cancel()
    }

    /// Ends all that is under way, and nothing that is asked for after it.
    func cancelAll() {
        cancellations += 1
        // Taken before anything ends: who is told of an end may ask for something else.
        let (tasks, subscribers) = (running.values.map(\.task), Array(leaves.keys))
        for task in tasks { task.cancel() }
        // Of bytes, encodings and prefetches, which have no task.
        for subscriber in subscribers { leave(subscriber) }
    }

    func priorityChanged(of task: ImageTask) {
        running[ObjectIdentifier(task)]?.demand.setPriority(task.priority)
    }

    private func run(_ task: ImageTask, demand: Demand, _ record: LoadRecord) async {
        let result: Result<ImageResponse, any Error>
        do {
            let response = try await withAlternatives(to: task.resolved, demand: demand) {
                coordinator, resolved, demand in
                try await coordinator.response(for: resolved, demand: demand)
            }
            let metrics = record.metrics(completing: response.metrics, rule: response.cacheRule)
            result = .success(response.standingIn(for: task.resolved.source, metrics))
        } catch {
            result = .failure(ImagePipelineError.wrapping(error, source: task.request.source))
        }
        running[ObjectIdentifier(task)] = nil
        task.end(result)
        record.end(of: task, result)
    }

    /// Loads that are running.
    var runningCount: Int { running.count }

    /// Whether this many loads are running and all wait for bytes, their own or another's: each waits for a job, and each of
    /// these but a fetch for one further down.
    func isWaitingForBytes(_ count: Int) -> Bool {
        let waiters = loads.waiterCount + steps.waiterCount + decodes.waiterCount + fetches.waiterCount
        return running.count >= count && waiters == running.count + loads.count + steps.count + decodes.count
    }

    var jobCount: Int { loads.count + steps.count + decodes.count + fetches.count + encodes.count }

    // MARK: - Recent fetches

    private struct WeakFetch {
        weak var fetched: FetchedData?
    }

    /// A reload asks the server, whoever else has just done so.
    func recentFetch(_ key: FetchKey) -> FetchedData? {
        guard key.readsDisk, let fetched = recentFetches[key]?.fetched, !fetched.isOutdated(in: .all) else {
            return nil
        }
        return fetched
    }

    /// The bytes have proved to be an image: they go to the disk where the request says so, and whoever comes from now on is
    /// given nothing older.
    func keep(_ fetched: FetchedData, of image: Image?, _ resolved: ResolvedRequest, demand: Demand) {
        // Each who asked, since it may be stored for one and not for another; it happens once.
        if storeOriginal(fetched, of: image, resolved) { demand.note(.stored(.diskOriginal)) }
        if fetched.origin == .network, fetched.mayBeKept { resolved.tellOthers(of: fetched) }
    }

    func rememberFetch(_ fetched: FetchedData, _ key: FetchKey) {
        recentFetches[key] = WeakFetch(fetched: fetched)
        guard recentFetches.count > recentFetchLimit else { return }
        recentFetches = recentFetches.filter { $0.value.fetched != nil }
        // Twice what is alive, so that looking through them costs a constant time each on average.
        recentFetchLimit = max(64, recentFetches.count * 2)
    }

    /// Once the bytes are stored, or it is known that they will not be, the disk answers for them.
    func forgetFetch(_ fetched: FetchedData, _ key: FetchKey) {
        if recentFetches[key]?.fetched === fetched { recentFetches[key] = nil }
    }

    // MARK: - Work

    /// Runs `body` on the processor threads, with the demand's priority, for as long as this task is wanted.
    func compute<Value: Sendable>(
        for demand: Demand, _ body: @escaping @Sendable (WorkContext) throws -> Value
    ) async throws -> Value {
        try await withTicket(for: demand) { try await ExecutionDomains.cpu.run(ticket: $1, body) }
    }

    /// The same, once the bytes that it takes are reserved.
    ///
    /// - Throws: `CodecError.limitExceeded` where they are more than the whole budget, and what `body` throws.
    func compute<Value: Sendable>(
        for demand: Demand, reserving bytes: Int, of budget: DecodeBudget,
        _ body: @escaping @Sendable (WorkContext) throws -> Value
    ) async throws -> Value {
        try budget.check(bytes)
        return try await withTicket(for: demand) {
            try await ExecutionDomains.cpu.run(ticket: $1, reserving: bytes, of: budget.bytes, body)
        }
    }

    /// Does `work` with a ticket that keeps the demand's priority.
    func withTicket<Value: Sendable>(
        for demand: Demand, _ work: (isolated Coordinator, WorkTicket) async throws -> Value
    ) async rethrows -> Value {
        let ticket = WorkTicket(priority: demand.priority)
        let link = demand.follow { ticket.priority = $0 }
        defer { demand.unfollow(link) }
        return try await work(self, ticket)
    }
}
