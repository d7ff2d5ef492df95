import HalcyonSystem

/// The speed of a transfer while it has a slot.
///
/// The time that it waits for its server is sampled by `PaceKeeper`, so that no clock is read for each chunk.
final class TransferPace: Sendable {
    private struct State {
        var isWaiting = false
        /// The time spent waiting for the server, and the bytes received in it: in total, and in the current period of
        /// the least rate.
        var waited = Duration.zero
        var bytes = 0
        var periodWaited = Duration.zero
        var periodBytes = 0
        /// Ends the body; nil before its head has arrived.
        var cancel: (@Sendable () -> Void)?
        var expired: TimeoutKind?
        var isAside = false
    }

    let id: Int
    private let minimumRate: MinimumRate
    private let state = Lock(State())

    /// Creates the pace of a transfer.
    ///
    /// - Parameter id: The ID of the transfer.
    init(_ id: Int, minimumRate: MinimumRate) {
        self.id = id
        self.minimumRate = minimumRate
    }

    /// The limit for which the transfer was ended.
    var expired: TimeoutKind? { state.withLock { $0.expired } }

    var isWaiting: Bool { state.withLock { $0.isWaiting } }

    func beginWait() {
        state.withLock { $0.isWaiting = true }
    }

    /// Ends a wait for the server.
    ///
    /// - Parameter bytes: The number of bytes of the body that have arrived.
    func endWait(bytes: Int = 0) {
        state.withLock { state in
            state.isWaiting = false
            state.bytes += bytes
            state.periodBytes += bytes
        }
    }

    /// Starts the body: from now on the least rate applies.
    func beginBody(cancel: @escaping @Sendable () -> Void) {
        state.withLock { state in
            (state.periodWaited, state.periodBytes) = (.zero, 0)
            state.cancel = cancel
        }
    }

    // MARK: For the keeper

    /// Counts elapsed time, and ends the transfer if it is below the least rate.
    func pass(_ time: Duration) {
        let isMissed = state.withLock { state -> Bool in
            guard state.isWaiting else { return false }
            state.waited += time
            guard state.cancel != nil else { return false }
            state.periodWaited += time
            guard let isMissed = minimumRate.isMissed(by: state.periodBytes, in: state.periodWaited) else {
                return false
            }
            (state.periodWaited, state.periodBytes) = (.zero, 0)
            return isMissed
        }
        if isMissed { end(.minimumRate) }
    }

    /// Returns whether the transfer has waited for its server for so long that it should give up its slot.
    func lingers(_ patience: Duration) -> Bool {
        state.withLock { !$0.isAside && $0.expired == nil && $0.waited >= patience }
    }

    func stepAside() {
        state.withLock { $0.isAside = true }
    }

    /// Returns the bytes per second of waiting; nil if the transfer cannot be ended, has been ended, or has not waited
    /// for `patience` yet.
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

/// A monitor of all transfers of a downloader that have a slot: it ends those that are too slow, and makes those that
/// take long give up their slots.
///
/// It has one timer for all of them, which runs only while there are any.
final class PaceKeeper: Sendable {
    private static let interval = Duration.seconds(1)
    /// The time that a transfer may wait for its server in a slot that others need.
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

    /// The number of transfers that are waiting for their servers.
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
                // A longer interval was not spent waiting: the process was stopped, or got no processor.
                let passed = min(max(now - last, .zero), Self.interval * 2)
                guard self?.tick(passed) ?? false else { return }
                last = now
            }
        }
    }

    func remove(_ pace: TransferPace) {
        state.withLock { $0.paces[pace.id] = nil }
    }

    /// Measures all transfers once.
    ///
    /// - Returns: False if there are no transfers left.
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
        // One at a time: its slot is free only once its transfer has left it.
        if isCrowded, paces.allSatisfy({ $0.expired == nil }) { slowest(of: paces)?.end(.crowded) }
        return !paces.isEmpty
    }

    private func slowest(of paces: [TransferPace]) -> TransferPace? {
        paces.compactMap { pace in pace.rate(Self.patience).map { (pace, $0) } }.min { $0.1 < $1.1 }?.0
    }
}
