import HalcyonSystem

/// Tells any number of readers what a disk cache has removed.
final class RemovalReaders: Sendable {
    private struct State {
        var readers: [Int: AsyncStream<DiskCache.RemovalEvent>.Continuation] = [:]
        var lastReader = 0
        var lastEvent = 0
    }

    /// What is kept for a reader that does not come: some hundred KiB at most.
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
        // Not under the lock: for a stream that nobody holds any more this is called at once.
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.readers[number] = nil }
        }
        return stream
    }

    /// - Parameter fileNames: asked only if there is a reader.
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
