import HalcyonSystem
import Logging
import NIOConcurrencyHelpers

/// Whatever a store knows about its server and its own work, shared by its callers and the loop's thread.
final class StoreBooks: Sendable {
    struct State {
        var breaker = CircuitBreaker()
        /// The generation of the keys. All entries of earlier ones are removed.
        var generation = 0
        var removals: PendingRemovals
        var statistics = RedisStore.Statistics()
        var queuedBytes = 0
        var isShutDown = false
    }

    private let state: NIOLockedValueBox<State>
    private let logger: Logger
    /// A signal each time that there may be something to recover from.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(_ configuration: RedisStore.Configuration, _ logger: Logger) {
        state = NIOLockedValueBox(State(removals: PendingRemovals(limit: configuration.maximumPendingRemovals)))
        self.logger = logger
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func withState<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
        state.withLockedValue { body(&$0) }
    }

    var statistics: RedisStore.Statistics { withState { $0.statistics } }

    func count(_ counter: any WritableKeyPath<RedisStore.Statistics, Int> & Sendable, _ number: Int = 1) {
        withState { $0.statistics[keyPath: counter] += number }
    }

    /// Returns the generation of the keys.
    ///
    /// - Throws: if nothing is to be sent now.
    func generation() throws(RedisStoreError) -> Int {
        let result = withState { state -> Result<Int, RedisStoreError> in
            if state.isShutDown { return .failure(.shutDown) }
            guard state.breaker.isClosed, state.removals.clearing == nil else { return .failure(.suspended) }
            return .success(state.generation)
        }
        return try result.get()
    }

    // MARK: Failures

    /// Notes a failure of the server.
    ///
    /// - Returns: whether it is suspended by it, and all connections are to be closed.
    func failed(_ error: RedisStoreError) -> Bool {
        let suspends = withState { state in
            guard !state.isShutDown else { return false }
            state.statistics.failures += 1
            guard state.breaker.failed() else { return false }
            state.statistics.suspensions += 1
            return true
        }
        guard suspends else { return false }
        logger.warning("Redis is suspended", metadata: ["error": "\(error)"])
        signal.yield()
        return true
    }

    func succeeded() { withState { $0.breaker.succeeded() } }

    /// Notes the result of a probe.
    func probed(succeeded: Bool) {
        withState { $0.breaker.probed(succeeded: succeeded) }
        if succeeded { logger.notice("Redis is back") }
    }

    /// Whether calls are sent.
    var isAsked: Bool { withState { $0.breaker.isClosed && !$0.isShutDown } }

    /// The time until the next attempt to recover; nil if there is nothing to recover from.
    var recoveryDelay: Duration? {
        withState { state in
            if state.isShutDown { return nil }
            return state.breaker.suspension() ?? (state.removals.hasUnsent ? CircuitBreaker.firstSuspension : nil)
        }
    }

    // MARK: Removals

    /// Returns whether the entry of this name has been removed, and the server may still have it.
    func isRemoved(_ name: String) -> Bool { withState { $0.removals.covers(name) } }

    /// Ends removals.
    func end(_ removals: [String: Int], isConfirmed: Bool) {
        withState { state in
            for (name, number) in removals { state.removals.end(name, number, isConfirmed: isConfirmed) }
        }
        if !isConfirmed { signal.yield() }
    }

    /// Ends the removal of everything, which has made a new generation if it is confirmed.
    func endClearing(_ number: Int, generation: Int?) {
        withState { state in
            state.generation = max(state.generation, generation ?? 0)
            state.removals.endClearing(number, isConfirmed: generation != nil)
        }
        if generation == nil { signal.yield() }
    }

    /// Notes a generation of the keys that the server knows.
    func learn(_ generation: Int) { withState { $0.generation = max($0.generation, generation) } }

    // MARK: The queue, and the end

    /// Counts the bytes of a write that is to be sent.
    func queue(_ bytes: Int, limit: Int) throws(RedisStoreError) {
        let hasRoom = withState { state in
            guard state.queuedBytes + bytes <= limit else { return false }
            state.queuedBytes += bytes
            return true
        }
        guard hasRoom else { throw .busy }
    }

    func unqueue(_ bytes: Int) { withState { $0.queuedBytes -= bytes } }

    func shutDown() {
        withState { $0.isShutDown = true }
        signal.finish()
    }
}
