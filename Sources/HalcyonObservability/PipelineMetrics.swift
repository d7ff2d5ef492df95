import CoreMetrics
import Halcyon
import HalcyonSystem

/// The metrics of a pipeline for swift-metrics: what it loads, from where, how long each stage takes, what its caches hold.
///
///     let metrics = PipelineMetrics(pipeline)
///     await metrics.run()        // until the task is cancelled; PipelineService runs it
///
/// Names begin with `halcyon_`, times are of seconds, lengths in bytes:
///
/// - counters: `loads_total` by `end` (an origin, `failed` or `cancelled`), `failures_total` by `stage` and `code`,
///   `cache_requests_total` by `level` and `result`, `transfers_total` by `status`, `transferred_bytes_total`,
///   `retries_total`, `events_missed_total`;
/// - timers: `load_duration_seconds`, `transfer_duration_seconds`, `transfer_queue_seconds`, `decode_duration_seconds`,
///   `process_duration_seconds`, `encode_duration_seconds`;
/// - gauges: `memory_cache_bytes`, `memory_cache_images`, `running_loads`, `decode_memory_bytes`.
///
/// Work that several loads share counts once. Memory hits are counted by the cache itself, and read with the gauges: a look-up in
/// memory costs the same with metrics as without.
public final class PipelineMetrics: Sendable {
    private let pipeline: ImagePipeline
    private let interval: Duration
    private let meters: Meters

    /// Creates the metrics of a pipeline, which are reported while `run` runs.
    ///
    /// - Parameters:
    ///   - interval: the time between two readings of the gauges and of the memory cache's counters, 10 s by default, by the
    ///     clock of the pipeline's configuration.
    ///   - factory: the backend; nil, the default, is the one that `MetricsSystem` has by then.
    public init(
        _ pipeline: ImagePipeline = .shared, interval: Duration = .seconds(10), factory: (any MetricsFactory)? = nil
    ) {
        self.pipeline = pipeline
        self.interval = max(interval, .milliseconds(1))
        meters = Meters(factory ?? MetricsSystem.factory)
    }

    /// Reports until the task is cancelled, then reads the gauges once more.
    public func run() async {
        // Requested before anything else, so that a load that follows is counted.
        let events = pipeline.events(bufferingNewest: 4096, includesMemoryHits: false)
        await withTaskGroup { group in
            group.addTask { await self.count(events) }
            group.addTask { await self.read() }
        }
    }

    // MARK: - Events

    private func count(_ events: AsyncStream<PipelineEvent>) async {
        var last: Int?
        for await event in events {
            if let last, event.number > last + 1 { meters.counter("events_missed_total").add(event.number - last - 1) }
            last = event.number
            count(event)
        }
    }

    private func count(_ event: PipelineEvent) {
        switch event.kind {
        case .ended(let end): count(end)
        case _ where event.isShared: break
        case .cacheHit(let level, _) where level != .memory: count(level, "hit")
        case .cacheMissed(let miss) where miss.level != .memory && miss.reason != .policy: count(miss.level, "miss")
        case .transferEnded(let summary):
            meters.counter("transfers_total", ("status", "\(summary.status)")).increment()
            meters.counter("transferred_bytes_total").add(summary.bytes)
            meters.timer("transfer_queue_seconds").record(summary.queue)
            if let metrics = summary.metrics { meters.timer("transfer_duration_seconds").record(metrics.total) }
        case .transferFailed(let error):
            meters.counter("transfers_total", ("status", error.code)).increment()
        case .retried: meters.counter("retries_total").increment()
        case .decoded(_, let time): meters.timer("decode_duration_seconds").record(time)
        case .processed(let time): meters.timer("process_duration_seconds").record(time)
        case .encoded(_, let time): meters.timer("encode_duration_seconds").record(time)
        case .started, .transferStarted, .alternativeTried, .stored, .notStored, .cacheHit, .cacheMissed: break
        }
    }

    private func count(_ end: PipelineEvent.End) {
        switch end {
        case .success(let origin, let metrics):
            meters.counter("loads_total", ("end", origin.rawValue)).increment()
            meters.timer("load_duration_seconds").record(metrics.total)
        case .failure(let error):
            meters.counter("loads_total", ("end", "failed")).increment()
            meters.counter("failures_total", ("stage", error.stage.rawValue), ("code", error.code)).increment()
        case .cancelled: meters.counter("loads_total", ("end", "cancelled")).increment()
        }
    }

    private func count(_ level: CacheLevel, _ result: String, by number: Int = 1) {
        meters.counter("cache_requests_total", ("level", level.rawValue), ("result", result)).add(number)
    }

    // MARK: - Readings

    private func read() async {
        var former = pipeline.cache.memoryStatistics
        let clock = pipeline.configuration.clock
        while (try? await clock.wait(for: interval)) != nil { await read(since: &former) }
        await read(since: &former)
    }

    private func read(since former: inout MemoryCacheStatistics) async {
        let now = pipeline.cache.memoryStatistics
        count(.memory, "hit", by: max(0, now.hits - former.hits))
        count(.memory, "miss", by: max(0, now.misses - former.misses))
        former = now
        meters.gauge("memory_cache_bytes").record(now.cost)
        meters.gauge("memory_cache_images").record(now.count)
        meters.gauge("running_loads").record(await pipeline.runningCount)
        let budget = pipeline.configuration.coders.budget
        meters.gauge("decode_memory_bytes").record(budget.capacity - budget.available)
    }
}

/// The meters of one backend, each made once.
private final class Meters: Sendable {
    private struct Key: Hashable {
        let name: String
        let values: [String]
    }

    private struct State {
        var counters: [Key: Counter] = [:]
        var timers: [Key: Timer] = [:]
        var gauges: [Key: Gauge] = [:]
    }

    private let factory: any MetricsFactory
    private let state = Lock(State())

    init(_ factory: any MetricsFactory) {
        self.factory = factory
    }

    func counter(_ name: String, _ dimensions: (String, String)...) -> Counter {
        meter(\.counters, name, dimensions) { Counter(label: $0, dimensions: dimensions, factory: factory) }
    }

    func timer(_ name: String) -> Timer {
        meter(\.timers, name) { Timer(label: $0, dimensions: [], preferredDisplayUnit: .seconds, factory: factory) }
    }

    func gauge(_ name: String) -> Gauge {
        meter(\.gauges, name) { Gauge(label: $0, dimensions: [], factory: factory) }
    }

    private func meter<Meter>(
        _ meters: WritableKeyPath<State, [Key: Meter]>, _ name: String, _ dimensions: [(String, String)] = [],
        make: (String) -> Meter
    ) -> Meter {
        let key = Key(name: name, values: dimensions.map(\.1))
        return state.withLock { state in
            if let known = state[keyPath: meters][key] { return known }
            let made = make("halcyon_" + name)
            state[keyPath: meters][key] = made
            return made
        }
    }
}

extension Counter {
    fileprivate func add(_ number: Int) {
        if number > 0 { increment(by: Int64(number)) }
    }
}

extension Timer {
    fileprivate func record(_ duration: Duration) {
        recordNanoseconds(Int64((duration.inSeconds * 1e9).rounded()))
    }
}
