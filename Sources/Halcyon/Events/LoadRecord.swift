import HalcyonNetwork
import HalcyonSystem

/// The record of one load, and the root of its subscriptions: it passes the load's events on to the pipeline's readers,
/// and sums them up in the load's metrics.
@JobActor
final class LoadRecord: Subscription {
    let source: ImageSource

    private let hub: EventHub
    private let trace: (any LoadTrace)?
    private let load: Int
    /// The name of the source in events, made once for all of them.
    private lazy var name = source.description
    private let watch = Stopwatch()
    private var sums = LoadMetrics()

    /// Creates the record of a load, and reports its start.
    ///
    /// - Parameters:
    ///   - trace: the program's receiver of the load's events.
    ///   - receive: called with each event, after it is counted.
    init(
        _ hub: EventHub, source: ImageSource, priority: RequestPriority, threads: ThreadPool, trace: (any LoadTrace)?,
        receive: (@JobActor (JobEvent) -> Void)? = nil
    ) {
        self.hub = hub
        self.trace = trace
        self.source = source
        load = hub.nextLoad()
        super.init(priority: priority, threads: threads, receive: receive)
        publish(.started)
    }

    override func send(_ event: JobEvent) {
        if case .note(let note) = event {
            sums.add(note)
            publish(note.kind, isShared: note.isReported)
            note.isReported = true
        }
        super.send(event)
    }

    /// Returns the metrics of the load.
    ///
    /// - Parameters:
    ///   - metrics: the metrics of the result, which take precedence over the sums.
    ///   - rule: the cache rule that applied to the server's answer.
    func metrics(completing metrics: LoadMetrics, rule: CacheRule?) -> LoadMetrics {
        var all = sums
        all.total = watch.elapsed
        all.bytes = metrics.bytes
        all.decode = metrics.decode ?? sums.decode
        all.process = metrics.process ?? sums.process
        all.transfer = metrics.transfer ?? sums.transfer
        if case .notStored(let reason) = rule, reason == .noStore || reason == .requestNoStore {
            all.misses = all.misses.map { $0.reason == .notFound ? CacheMiss($0.level, .noStore) : $0 }
        }
        return all
    }

    // MARK: - End

    /// Reports the end of a load without an `ImageTask`.
    ///
    /// - Parameter provenance: nil if there was nothing to load, which counts as cancelled.
    func end(_ provenance: Provenance?) -> LoadMetrics {
        var metrics = LoadMetrics()
        metrics.bytes = provenance?.encodedBytes ?? 0
        metrics = self.metrics(completing: metrics, rule: provenance?.rule)
        report(provenance.map { .success($0.origin, metrics) } ?? .cancelled)
        return metrics
    }

    /// Reports the end of a task, which may have been cancelled before this result.
    func end(of task: ImageTask, _ result: Result<ImageResponse, any Error>) {
        switch result {
        case _ where task.status == .cancelled: report(.cancelled)
        case .success(let response): report(.success(response.origin, response.metrics))
        case .failure(let error): fail(error)
        }
    }

    func fail(_ error: any Error) {
        if let error = error as? ImagePipelineError { report(.failure(error)) } else { report(.cancelled) }
    }

    private func report(_ end: PipelineEvent.End) {
        publish(.ended(end))
    }

    private func publish(_ kind: PipelineEvent.Kind, isShared: Bool = false) {
        hub.publish(kind, load: load, source: name, isShared: isShared)
        trace?.receive(kind, isShared: isShared)
    }
}
