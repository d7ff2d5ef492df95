import HalcyonSystem
import Logging
import Synchronization

/// Delivers a pipeline's events to its readers and its log.
final class EventHub: Sendable {
    private struct State {
        var lastNumber = 0
        var lastReader = 0
        var readers: [Int: Reader] = [:]
    }

    private struct Reader {
        let continuation: AsyncStream<PipelineEvent>.Continuation
        let queue: DeliveryQueue<PipelineEvent>

        init(_ continuation: AsyncStream<PipelineEvent>.Continuation) {
            self.continuation = continuation
            queue = DeliveryQueue { continuation.yield($0) }
        }
    }

    private let state = Lock(State())
    private let readerCount = Atomic<Int>(0)
    private let lastLoad = Atomic<Int>(0)
    private let log: PipelineLog?

    init(logger: Logger?) {
        log = logger.map { PipelineLog($0) }
    }

    deinit {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.continuation.finish() }
    }

    /// Whether the events of successful loads are read or logged. It costs one look at a number, since each memory hit
    /// calls it.
    var isActive: Bool { readerCount.load(ordering: .relaxed) > 0 || log?.takesDetails ?? false }

    func nextLoad() -> Int { lastLoad.add(1, ordering: .relaxed).newValue }

    func stream(bufferingNewest limit: Int) -> AsyncStream<PipelineEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: PipelineEvent.self, bufferingPolicy: .bufferingNewest(max(1, limit)))
        let reader = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = Reader(continuation)
            return state.lastReader
        }
        readerCount.add(1, ordering: .relaxed)
        continuation.onTermination = { [weak self] _ in self?.leave(reader) }
        return stream
    }

    /// Removes a reader. Called once for each.
    private func leave(_ reader: Int) {
        // Freed outside the lock.
        let gone = state.withLock { $0.readers.removeValue(forKey: reader) }
        withExtendedLifetime(gone) {}
        readerCount.subtract(1, ordering: .relaxed)
    }

    /// Publishes an event of a load.
    ///
    /// - Parameters:
    ///   - source: the name of the source, evaluated only if the event is read or logged.
    ///   - isLogged: whether the log has the event already, of another load that shares the work.
    func publish(
        _ kind: PipelineEvent.Kind, load: Int, source: @autoclosure () -> String, isLogged: Bool = false
    ) {
        if !isLogged { log?.take(kind, load: load, source: source()) }
        guard readerCount.load(ordering: .relaxed) > 0 else { return }
        let source = source()
        let readers = state.withLock { state in
            state.lastNumber += 1
            let event = PipelineEvent(number: state.lastNumber, load: load, source: source, kind: kind)
            for reader in state.readers.values { reader.queue.add(event) }
            return Array(state.readers.values)
        }
        for reader in readers { reader.queue.deliver() }
    }
}

extension EventHub {
    /// Reports a load that ended on its caller's thread.
    ///
    /// - Parameter isKept: whether the memory cache has just stored the image.
    func report(_ response: ImageResponse, from level: CacheLevel, isKept: Bool) {
        let (load, source) = (nextLoad(), response.source.description)
        publish(.started, load: load, source: source)
        for miss in response.metrics.misses { publish(.cacheMissed(miss), load: load, source: source) }
        publish(.cacheHit(level, response.cacheRule), load: load, source: source)
        if let decode = response.metrics.decode {
            publish(.decoded(response.image.size, decode), load: load, source: source)
        }
        if isKept { publish(.stored(.memory), load: load, source: source) }
        publish(.ended(.success(response.origin, response.metrics)), load: load, source: source)
    }
}
