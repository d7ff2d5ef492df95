import HalcyonNetwork

/// What a load has come to so far: told to the pipeline's readers as it happens, summed up in its metrics.
///
/// Confined to the coordinator.
final class LoadRecord {
    let hub: EventHub
    private let load: Int
    private let source: ImageSource
    private let started = ContinuousClock.now
    private var sums = LoadMetrics()

    init(_ hub: EventHub, source: ImageSource) {
        self.hub = hub
        load = hub.nextLoad()
        self.source = source
        hub.publish(.started, load: load, source: source.description)
    }

    func take(_ event: JobEvent) {
        guard case .note(let note) = event else { return }
        sums.add(note)
        hub.publish(note.kind, load: load, source: source.description)
    }

    /// - Parameters:
    ///   - metrics: what the result itself knows.
    ///   - rule: what became of the server's answer.
    func metrics(completing metrics: LoadMetrics, rule: CacheRule?) -> LoadMetrics {
        var all = sums
        all.total = ContinuousClock.now - started
        all.bytes = metrics.bytes
        all.decode = metrics.decode ?? sums.decode
        all.process = metrics.process ?? sums.process
        all.transfer = metrics.transfer ?? sums.transfer
        if case .notStored(let reason) = rule, reason == .noStore || reason == .requestNoStore {
            all.misses = all.misses.map { $0.reason == .notThere ? CacheMiss($0.place, .noStore) : $0 }
        }
        return all
    }

    func end(_ end: PipelineEvent.End) {
        hub.publish(.ended(end), load: load, source: source.description)
    }

    /// The end of a task, which may have been called off before this result.
    func end(of task: ImageTask, _ result: Result<ImageResponse, any Error>) {
        switch result {
        case _ where task.status == .cancelled: end(.cancelled)
        case .success(let response): end(.success(response.origin, response.metrics))
        case .failure(let error): fail(error)
        }
    }

    /// The end with an error.
    func fail(_ error: any Error) {
        if let error = error as? ImagePipelineError { end(.failure(error)) } else { end(.cancelled) }
    }
}
