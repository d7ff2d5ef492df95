import HalcyonSystem

extension DiskCache {
    /// An event that reports files that a disk cache has removed itself, at most a few dozen at a time.
    public struct RemovalEvent: Sendable, Hashable {
        /// The reason why a cache removed files.
        public enum Reason: Sendable, Hashable {
            /// The entries had expired.
            case expired
            /// The entries were evicted to make room.
            case trimmed
            /// `removeAll()` was called.
            case removedAll
            /// The files were incomplete or damaged.
            case damaged
        }

        /// The reason why the files were removed.
        public var reason: Reason
        /// The names of the removed files, without their folders.
        public var fileNames: [String]
        /// The total length of the files in bytes.
        public var bytes: Int
        /// The number of the event in its cache, from 1. A gap means that the reader was too slow for the events left out.
        public var number: Int
    }
}

/// The readers of a disk cache's removal events.
final class RemovalObservers: Sendable {
    private struct State {
        var readers: [Int: AsyncStream<DiskCache.RemovalEvent>.Continuation] = [:]
        var lastReader = 0
        var lastEvent = 0
    }

    /// The maximum number of events buffered for a slow reader: some hundred KiB at most.
    private static let most = 64
    private let state = Lock(State())

    deinit {
        for reader in state.withLock({ $0.readers }).values { reader.finish() }
    }

    func stream() -> AsyncStream<DiskCache.RemovalEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DiskCache.RemovalEvent.self, bufferingPolicy: .bufferingNewest(Self.most))
        let number = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
            return state.lastReader
        }
        // Not under the lock: if the stream has no owner any more, the handler is called at once.
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.readers[number] = nil }
        }
        return stream
    }

    /// Sends an event to all readers.
    ///
    /// - Parameter fileNames: called only if there is a reader.
    func report(_ reason: DiskCache.RemovalEvent.Reason, bytes: Int, _ fileNames: () -> [String]) {
        let (readers, number) = state.withLock { state in
            state.lastEvent += 1
            return (Array(state.readers.values), state.lastEvent)
        }
        guard !readers.isEmpty else { return }
        let event = DiskCache.RemovalEvent(reason: reason, fileNames: fileNames(), bytes: bytes, number: number)
        for reader in readers { reader.yield(event) }
    }
}
