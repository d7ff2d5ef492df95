#if Observability
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
///   `cache_requests_total` by `level` and `result`, `transfers_total` by `status`, `transfer_failures_total` by `code`,
///   `transferred_bytes_total`, `retries_total`; with isolated decoding `decode_worker_starts_total`,
///   `decode_worker_faults_total` and `decode_worker_milliseconds_total`;
/// - timers: `load_duration_seconds`, `transfer_duration_seconds`, `transfer_queue_seconds`, `decode_duration_seconds`,
///   `process_duration_seconds`, `encode_duration_seconds`;
/// - gauges: `memory_cache_bytes`, `memory_cache_images`, `running_loads`, `decode_memory_bytes`, `decode_workers`.
///
/// Work that several loads share counts once. Memory hits are counted by the cache itself, and read with the gauges: a look-up in
/// memory costs the same with metrics as without.
public final class PipelineMetrics: Sendable {
    private let pipeline: ImagePipeline
    private let interval: Duration
    private let meters: Meters
    /// Held by the call that reports: one at a time.
    private let turn = ByteBudget(capacity: 1)

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
    ///
    /// Counters and timers are called where loads report: on the thread that all pipelines share for their bookkeeping, or on
    /// that of a caller. So a backend must not block. One call at a time reports, so that nothing counts twice; the next one
    /// goes on when it ends. A load that ends at the same time as `run` may not be counted.
    public func run() async {
        guard let turn = try? await turn.hold(1, ticket: WorkTicket()) else { return }
        defer { withExtendedLifetime(turn) {} }
        await withTaskGroup { group in
            group.addTask { await self.read() }
            await pipeline.receiveEvents { self.count($0) }
        }
    }

    // MARK: - Events

    private func count(_ event: PipelineEvent) {
        switch event.kind {
        case .ended(let end): count(end)
        case _ where event.isShared: break
        case .cacheHit(let level, _) where level != .memory: count(level, "hit")
        case .cacheMissed(let miss) where miss.level != .memory && miss.reason != .policy: count(miss.level, "miss")
        case .transferEnded(let summary):
            meters.transfers["\(summary.status)"].increment()
            meters.transferredBytes.add(summary.bytes)
            meters.transferQueue.record(summary.queue)
            if let metrics = summary.metrics { meters.transferDuration.record(metrics.total) }
        case .transferFailed(let error): meters.transferFailures[error.code].increment()
        case .retried: meters.retries.increment()
        case .decoded(_, let time): meters.decodeDuration.record(time)
        case .processed(let time): meters.processDuration.record(time)
        case .encoded(_, let time): meters.encodeDuration.record(time)
        case .started, .transferStarted, .alternativeTried, .stored, .notStored, .cacheHit, .cacheMissed: break
        }
    }

    private func count(_ end: PipelineEvent.End) {
        switch end {
        case .success(let origin, let metrics):
            meters.loads[origin.rawValue].increment()
            meters.loadDuration.record(metrics.total)
        case .failure(let error):
            meters.loads["failed"].increment()
            meters.failures[error.stage.rawValue, error.code].increment()
        case .cancelled: meters.loads["cancelled"].increment()
        }
    }

    private func count(_ level: CacheLevel, _ result: String, by number: Int = 1) {
        meters.cacheRequests[level.rawValue, result].add(number)
    }

    // MARK: - Readings

    /// The counts of the last reading, from which counters grow.
    private struct Counts {
        var memory: MemoryCacheStatistics
        var workers: DecodeWorkers.Statistics

        init(_ pipeline: ImagePipeline) {
            memory = pipeline.cache.memoryStatistics
            workers = pipeline.configuration.isolation.workers?.statistics ?? DecodeWorkers.Statistics()
        }
    }

    private func read() async {
        var former = Counts(pipeline)
        let clock = pipeline.configuration.clock
        while (try? await clock.wait(for: interval)) != nil { await read(since: &former) }
        await read(since: &former)
    }

    private func read(since former: inout Counts) async {
        let now = Counts(pipeline)
        count(.memory, "hit", by: max(0, now.memory.hits - former.memory.hits))
        count(.memory, "miss", by: max(0, now.memory.misses - former.memory.misses))
        meters.memoryCacheBytes.record(now.memory.cost)
        meters.memoryCacheImages.record(now.memory.count)
        meters.runningLoads.record(await pipeline.runningCount)
        let budget = pipeline.configuration.coders.budget
        meters.decodeMemory.record(budget.capacity - budget.available)
        if pipeline.configuration.isolation != .inProcess {
            meters.decodeWorkers.record(now.workers.workers)
            meters.workerStarts.add(now.workers.started - former.workers.started)
            meters.workerFaults.add(now.workers.faults - former.workers.faults)
            meters.workerMilliseconds.add(Int((now.workers.time - former.workers.time) / .milliseconds(1)))
        }
        former = now
    }
}
#else
#error("HalcyonObservability needs the package trait Observability: .package(..., traits: [\"Observability\"])")
#endif
