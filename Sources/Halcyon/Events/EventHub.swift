import HalcyonSystem
import Logging
import Synchronization

/// Delivers a pipeline's events to its readers and its log.
final class EventHub: Sendable {
    private struct State {
        var lastReader = 0
        var readers: [Int: Reader] = [:]
    }

    private struct Reader {
        let queue: DeliveryQueue<PipelineEvent>
        let wantsMemoryHits: Bool
        /// Called once the hub has ended.
        let finish: @Sendable () -> Void
        /// The number of events so far.
        var lastNumber = 0
    }

    private let state = Lock(State())
    private let readerCount = Atomic<Int>(0)
    private let readersOfMemoryHits = Atomic<Int>(0)
    private let lastLoad = Atomic<Int>(0)
    private let log: PipelineLog?

    init(logger: Logger?) {
        log = logger.map { PipelineLog($0) }
    }

    deinit {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.finish() }
    }

    /// Whether the events of a load that a level answers are read or logged. It costs one look at a number, since each memory
    /// hit calls it.
    func isActive(for level: CacheLevel) -> Bool {
        let count =
            level == .memory ? readersOfMemoryHits.load(ordering: .relaxed) : readerCount.load(ordering: .relaxed)
        return count > 0 || log?.takesDetails ?? false
    }

    /// The number of readers.
    var count: Int { readerCount.load(ordering: .relaxed) }

    func nextLoad() -> Int { lastLoad.add(1, ordering: .relaxed).newValue }

    /// Adds a reader.
    ///
    /// - Parameters:
    ///   - receive: called with each event, in order, on the thread of any load.
    ///   - finish: called once the hub has ended.
    /// - Returns: its identity, with which it leaves.
    func add(
        wantsMemoryHits: Bool, receive: @escaping @Sendable (PipelineEvent) -> Void,
        finish: @escaping @Sendable () -> Void = {}
    ) -> Int {
        let reader = Reader(queue: DeliveryQueue(receive), wantsMemoryHits: wantsMemoryHits, finish: finish)
        let id = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = reader
            return state.lastReader
        }
        count(1, wantsMemoryHits: wantsMemoryHits)
        return id
    }

    func stream(bufferingNewest limit: Int, wantsMemoryHits: Bool) -> AsyncStream<PipelineEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PipelineEvent.self, bufferingPolicy: .bufferingNewest(max(1, limit)))
        let reader = add(
            wantsMemoryHits: wantsMemoryHits, receive: { continuation.yield($0) }, finish: { continuation.finish() })
        continuation.onTermination = { [weak self] _ in self?.leave(reader) }
        return stream
    }

    /// Removes a reader. Called once for each.
    func leave(_ reader: Int) {
        // Freed outside the lock.
        let gone = state.withLock { $0.readers.removeValue(forKey: reader) }
        guard let gone else { return }
        gone.queue.close()
        count(-1, wantsMemoryHits: gone.wantsMemoryHits)
    }

    private func count(_ change: Int, wantsMemoryHits: Bool) {
        readerCount.add(change, ordering: .relaxed)
        if wantsMemoryHits { readersOfMemoryHits.add(change, ordering: .relaxed) }
    }

    /// Publishes an event of a load.
    ///
    /// - Parameters:
    ///   - source: the name of the source, evaluated only if the event is read or logged.
    ///   - isShared: whether another load has reported the event, which the log does not repeat.
    ///   - isMemoryHit: whether the event is of a load that memory answers, which not every reader wants.
    func publish(
        _ kind: PipelineEvent.Kind, load: Int, source: @autoclosure () -> String, isShared: Bool = false,
        isMemoryHit: Bool = false
    ) {
        if !isShared { log?.take(kind, load: load, source: source()) }
        guard readerCount.load(ordering: .relaxed) > 0 else { return }
        let source = source()
        let queues = state.withLock { state in
            var queues: [DeliveryQueue<PipelineEvent>] = []
            for index in state.readers.values.indices {
                if isMemoryHit, !state.readers.values[index].wantsMemoryHits { continue }
                state.readers.values[index].lastNumber += 1
                let reader = state.readers.values[index]
                reader.queue.add(
                    PipelineEvent(
                        number: reader.lastNumber, load: load, source: source, kind: kind, isShared: isShared))
                queues.append(reader.queue)
            }
            return queues
        }
        for queue in queues { queue.deliver() }
    }
}

extension EventHub {
    /// Reports a load that ended on its caller's thread.
    ///
    /// - Parameter isKept: whether the memory cache has just stored the image.
    func report(_ response: ImageResponse, from level: CacheLevel, isKept: Bool) {
        var kinds: [PipelineEvent.Kind] = [.started] + response.metrics.misses.map { .cacheMissed($0) }
        kinds.append(.cacheHit(level, response.cacheRule))
        if let decode = response.metrics.decode { kinds.append(.decoded(response.image.size, decode)) }
        if isKept { kinds.append(.stored(.memory)) }
        kinds.append(.ended(.success(response.origin, response.metrics)))
        let (load, source) = (nextLoad(), response.source.description)
        for kind in kinds { publish(kind, load: load, source: source, isMemoryHit: level == .memory) }
    }
}
