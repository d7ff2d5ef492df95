import HalcyonNetwork
import HalcyonSystem

/// The registry of one pipeline: the loads and jobs that are under way.
///
/// The stages do the work, and find each other through this registry. They are in `Jobs`, `Encoding` and `Prefetching`,
/// one type each.
@JobActor
final class Coordinator {
    nonisolated let configuration: ImagePipeline.Configuration
    nonisolated let failures: FailureMemory
    nonisolated let hub: EventHub
    /// Whether loads of images go through interceptors, so that nothing is answered before those are called.
    nonisolated let isIntercepted: Bool

    let loads: JobPool<LoadKey, LoadedImage>
    let steps: JobPool<LoadKey, LoadedImage>
    let decodes: JobPool<DecodeKey, LoadedImage>
    let fetches: JobPool<FetchKey, FetchedData>
    let encodes: JobPool<EncodeKey, EncodedAnswer>
    var recentFetches = RecentFetches()
    /// The loads that revalidate an answer that was already delivered.
    private(set) var revalidations: Set<LoadKey> = []

    private struct Running {
        let task: ImageTask
        let record: LoadRecord
    }

    private var running: [ObjectIdentifier: Running] = [:]
    /// The loads without an `ImageTask`: of bytes, encodings, prefetches and revalidations.
    private var others: [ObjectIdentifier: LoadRecord] = [:]

    nonisolated init(configuration: ImagePipeline.Configuration) {
        self.configuration = configuration
        failures = FailureMemory(configuration.rememberedFailures)
        hub = EventHub(logger: configuration.logger)
        isIntercepted = !configuration.interceptors.isEmpty
        let threads = configuration.processingThreads.pool
        (loads, steps, decodes) = (JobPool(threads), JobPool(threads), JobPool(threads))
        (fetches, encodes) = (JobPool(threads), JobPool(threads))
    }

    /// The threads for codecs and processors.
    nonisolated var threads: ThreadPool { configuration.processingThreads.pool }

    // MARK: - Image tasks

    func start(_ task: ImageTask, _ trace: (any LoadTrace)?) {
        guard !task.hasEnded else {
            trace?.receive(.ended(.cancelled), isShared: false)
            return
        }
        let record = LoadRecord(
            hub, source: task.request.source, priority: task.priority, threads: threads, trace: trace
        ) { task.receive($0) }
        running[ObjectIdentifier(task)] = Running(task: task, record: record)
        if isIntercepted {
            InterceptedLoad.begin(task.resolved, for: record) { self.end(task, record, $0) }
        } else {
            RequestLoad(resolved: task.resolved, subscription: record).begin { self.end(task, record, $0) }
        }
    }

    private func end(_ task: ImageTask, _ record: LoadRecord, _ loaded: Result<ImageResponse, any Error>) {
        let source = task.resolved.source
        let result: Result<ImageResponse, any Error>
        switch loaded {
        case .success(let response):
            let metrics = record.metrics(completing: response.metrics, rule: response.cacheRule)
            result = .success(response.standingIn(for: source, metrics))
        case .failure(let error):
            result = .failure(ImagePipelineError.wrapping(error, source: source))
        }
        running[ObjectIdentifier(task)] = nil
        task.end(result)
        record.end(of: task, result)
    }

    func cancel(_ task: ImageTask) {
        running[ObjectIdentifier(task)]?.record.cancel()
    }

    func priorityChanged(of task: ImageTask) {
        running[ObjectIdentifier(task)]?.record.setPriority(task.priority)
    }

    // MARK: - Other loads

    /// Begins a load without an `ImageTask`.
    func begin(_ source: ImageSource, priority: RequestPriority) -> LoadRecord {
        let trace = configuration.tracer?.beginLoad(of: source.description)
        let record = LoadRecord(hub, source: source, priority: priority, threads: threads, trace: trace)
        others[ObjectIdentifier(record)] = record
        return record
    }

    /// Does the work of a load that has begun, and reports its end.
    ///
    /// - Parameter work: returns the value and its provenance, which is nil if there was nothing to load.
    /// - Throws: the errors of `work`; the reported event has them as `ImagePipelineError`.
    func run<Value: Sendable>(
        _ record: LoadRecord, _ work: @JobActor (Subscription) async throws -> (Value, Provenance?)
    ) async throws -> (value: Value, metrics: LoadMetrics) {
        defer { others[ObjectIdentifier(record)] = nil }
        do {
            let (value, provenance) = try await work(record)
            return (value, record.end(provenance))
        } catch {
            record.fail(ImagePipelineError.wrapping(error, source: record.source))
            throw error
        }
    }

    /// Revalidates an answer that was already delivered, at the lowest priority, once for all callers that want the
    /// revalidation of one image, and puts the server's answer into the caches. A failure leaves the caches unchanged.
    func revalidate(_ resolved: ResolvedRequest) {
        let request = resolved.changing(asRevalidation: true) {
            $0.priority = .veryLow
            $0.showsNothing()
            $0.cachePolicy.waitsForStore = false
        }
        let key = LoadKey(request)
        guard revalidations.insert(key).inserted else { return }
        let record = begin(request.source, priority: .veryLow)
        Task {
            _ = try? await run(record) {
                let loaded = try await LoadJob.image(of: request, for: $0)
                return (loaded, loaded.provenance)
            }
            revalidations.remove(key)
        }
    }

    // MARK: - All

    /// Cancels everything that is under way, but nothing that is requested afterwards.
    func cancelAll() {
        // Copied before anything ends: a caller that is notified of an end may start another load.
        let (tasks, records) = (running.values.map(\.task), Array(others.values))
        for task in tasks { task.cancel() }
        for record in records { record.cancel() }
    }

    /// The number of image tasks that are running.
    var runningCount: Int { running.count }

    /// Whether at least `count` loads are running and all of them wait for bytes that they or another load fetch: each
    /// load waits for a job, and each of these jobs, except a fetch, waits for one further down.
    func isWaitingForBytes(_ count: Int) -> Bool {
        let waiters = loads.waiterCount + steps.waiterCount + decodes.waiterCount + fetches.waiterCount
        return running.count >= count && waiters == running.count + loads.count + steps.count + decodes.count
    }

    var jobCount: Int { loads.count + steps.count + decodes.count + fetches.count + encodes.count }
}
