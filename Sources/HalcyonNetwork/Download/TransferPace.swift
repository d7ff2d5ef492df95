import HalcyonSystem

/// How fast one transfer comes while it has a place among those that run.
///
/// The time that it waits for its server is sampled by `PaceKeeper`: nothing reads a clock for each chunk.
final class TransferPace: Sendable {
    private struct State {
        var isWaiting = false
        /// Spent waiting for the server, and received in it: in all, and in the current period of the least rate.
        var waited = Duration.zero
        var bytes = 0
        var periodWaited = Duration.zero
        var periodBytes = 0
        /// Ends the body; nil before its head is there.
        var cancel: (@Sendable () -> Void)?
        var expired: TimeoutKind?
        var isAside = false
    }

    let id: Int
    private let leastRate: LeastRate
    private let state = Lock(State())

    /// - Parameter id: the transfer's.
    init(_ id: Int, leastRate: LeastRate) {
        self.id = id
        self.leastRate = leastRate
    }

    /// Which limit it was ended for.
    var expired: TimeoutKind? { state.withLock { $0.expired } }

    var isWaiting: Bool { state.withLock { $0.isWaiting } }

    func beginWait() {
        state.withLock { $0.isWaiting = true }
    }

    /// - Parameter bytes: what came of the body.
    func endWait(bytes: Int = 0) {
        state.withLock { state in
            state.isWaiting = false
            state.bytes += bytes
            state.periodBytes += bytes
        }
    }

    /// From here on it is held to the least rate.
    func beginBody(cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            (state.periodWaited, state.periodBytes) = (.zero, 0)
            state.cancel = cancel
        }
    }

    // MARK: For the keeper

    /// Counts time that has passed, and ends the transfer if it misses the least rate.
    func pass(_ time: Duration) {
        let isMissed = state.withLock { state -> Bool in
            guard state.isWaiting else { return false }
            state.waited += time
            guard state.cancel != nil else { return false }
            state.periodWaited += time
            guard let isMissed = leastRate.isMissed(by: state.periodBytes, in: state.periodWaited) else {
                return false
            }
            (state.periodWaited, state.periodBytes) = (.zero, 0)
            return isMissed
        }
        if isMissed { end(.leastRate) }
    }

    /// Whether it has waited for its server for so long that others should have its place.
    func lingers(_ patience: Duration) -> Bool {
        state.withLock { !$0.isAside && $0.expired == nil && $0.waited >= patience }
    }

    func stepAside() {
        state.withLock { $0.isAside = true }
    }

    /// Bytes for each second of waiting; nil where it cannot be ended, or has been.
    func rate(_ patience: Duration) -> Double? {
        state.withLock { state in
            guard state.cancel != nil, state.expired == nil, state.waited >= patience else { return nil }
            return Double(state.bytes) / max(state.waited / .seconds(1), 1)
        }
    }

    func end(_ kind: TimeoutKind) {
        let cancel = state.withLock { state -> (@Sendable () -> Void)? in
            guard let cancel = state.cancel, state.expired == nil else { return nil }
            state.expired = kind
            return cancel
        }
        cancel?()
    }
}

/// Watches all transfers of a downloader that have a place: those that are too slow are ended, and those that take long
/// leave their place to others.
///
/// One timer for all of them, which runs only while there are any.
final class PaceKeeper: Sendable {
    private static let interval = Duration.seconds(1)
    /// How long a transfer may wait for its server in a place that others want.
    private static let patience = Duration.seconds(10)

    private struct State {
        var paces: [Int: TransferPace] = [:]
        /// The timer; nil while it does not run.
        var timer: Task<Void, Never>?
    }

    private let slots: TransferSlots
    private let time: TimeSource
    private let state = Lock(State())

    init(slots: TransferSlots, time: TimeSource) {
        self.slots = slots
        self.time = time
    }

    deinit {
        state.withLock { $0.timer }?.cancel()
    }

    /// Transfers that wait for their servers now.
    var waitingCount: Int { state.withLock { $0.paces.values }.count(where: \.isWaiting) }

    func add(_ pace: TransferPace) {
        state.withLock { state in
            state.paces[pace.id] = pace
            if state.timer == nil { state.timer = startTimer() }
        }
    }

    private func startTimer() -> Task<Void, Never> {
        Task.detached { [weak self, time] in
            var last = time.steady
            while (try? await time.wait(for: Self.interval)) != nil {
                let now = time.steady
                // A longer interval was no time of waiting: the process stood still, or got no processor.
                let passed = min(max(now - last, .zero), Self.interval * 2)
                guard self?.tick(passed) ?? false else { return }
                last = now
            }
        }
    }

    func remove(_ pace: TransferPace) {
        state.withLock { $0.paces[pace.id] = nil }
    }

    /// - Returns: false when there is nothing left to watch.
    private func tick(_ passed: Duration) -> Bool {
        let paces = state.withLock { state in
            if state.paces.isEmpty { state.timer = nil }
            return Array(state.paces.values)
        }
        for pace in paces { pace.pass(passed) }
        var isCrowded = false
        for pace in paces where pace.lingers(Self.patience) {
            switch slots.stepAside(pace.id) {
            case .done: pace.stepAside()
            case .full(let isWantedByOthers): isCrowded = isCrowded || isWantedByOthers
            case .hasNone: break
            }
        }
        // One at a time: its place is free only once its transfer has left it.
        if isCrowded, paces.allSatisfy({ $0.expired == nil }) { slowest(of: paces)?.end(.crowded) }
        return !paces.isEmpty
    }

    private func slowest(of paces: [TransferPace]) -> TransferPace? {
        paces.compactMap { pace in pace.rate(Self.patience).map { (pace, $0) } }.min { $0.1 < $1.1 }?.0
    }
}
