import HalcyonSystem

/// The limits of a cache that is in use, and the timer that follows them.
extension DiskCache {
    /// The maximum size of all files together, in bytes. Without one in the configuration, it is a tenth of the free space, at most
    /// 1 GiB, until one is set.
    ///
    /// A lower limit starts a trim at once, which scans the folder in the background (a microsecond an entry) and removes down to
    /// four fifths of the limit. A write that is under way keeps the limit with which it began.
    public var sizeLimit: Int {
        get {
            if let limit = state.withLock({ $0.sizeLimit ?? $0.standardSizeLimit }) { return limit }
            // The cache's own files count as free: otherwise the limit would shrink as the cache grows.
            return standardSizeLimit(free: store.freeSpace())
        }
        set {
            state.withLock { state in
                if newValue < state.sizeLimit ?? .max { state.isTrimRequested = true }
                state.sizeLimit = newValue
            }
            startTrimIfNeeded()
        }
    }

    /// Returns a tenth of the free space, at most 1 GiB. Some file systems report more free space than there is, up to any
    /// size.
    func standardSizeLimit(free: Int?) -> Int {
        let (room, overflow) = max(0, free ?? .max).addingReportingOverflow(store.estimatedSize)
        return min(1 << 30, (overflow ? .max : room) / 10)
    }

    /// The time for which entries without an expiration of their own are kept; at first the configuration's.
    ///
    /// A change applies to entries that are stored from then on: the file of an entry has its expiration with it.
    public var expiration: StorageExpiration {
        get { state.withLock { $0.expiration } }
        set { state.withLock { $0.expiration = newValue } }
    }

    /// The effect of a read on an entry's expiration, unless the read has its own; at first the configuration's. A change applies
    /// to the next read of each entry.
    public var accessExtension: ExpirationExtension {
        get { state.withLock { $0.accessExtension } }
        set { state.withLock { $0.accessExtension = newValue } }
    }

    /// The interval at which expired entries are removed, and the others trimmed if they exceed the limit, at least a second; nil
    /// leaves it to `sweep()`. At first the configuration's.
    ///
    /// A new interval begins anew when it is set.
    public var sweepInterval: Duration? {
        get { state.withLock { $0.sweepInterval } }
        set {
            let former = state.withLock { state -> RepeatingWork? in
                guard state.sweepInterval != newValue else { return nil }
                state.sweepInterval = newValue
                return state.isInUse ? restartSweeping(&state) : nil
            }
            withExtendedLifetime(former) {}
        }
    }

    // MARK: Sweeps

    /// The delay of the first sweep after the first read or write.
    private static var firstSweep: Duration { .seconds(60) }

    /// Starts the periodic sweeps, or does nothing if they have been started already.
    func startSweeping() {
        state.withLock { state in
            guard !state.isInUse else { return }
            state.isInUse = true
            _ = restartSweeping(&state)
        }
    }

    /// Sets the timer of the sweeps by the interval in effect.
    ///
    /// - Returns: the former timer, to be released outside of the lock: its end cancels a wait of the time source, which is foreign
    ///   code.
    private func restartSweeping(_ state: inout State) -> RepeatingWork? {
        let (former, isFirst) = (state.sweeping, !state.hasSwept)
        state.sweeping = state.sweepInterval.map { interval in
            let interval = max(interval, .seconds(1)).forTimer
            return RepeatingWork(every: isFirst ? min(interval, Self.firstSweep) : interval, timeSource: timeSource) {
                [weak self] in
                // This ends the work that is running now, which was for the first sweep only.
                if isFirst { self?.repeatSweeping() }
                await self?.sweep()
            }
        }
        return former
    }

    /// Sweeps before the program ends, unless that was done within the interval. Programs that live for less than a minute never
    /// reach the first sweep.
    func sweepAtEnd() async {
        let (isInUse, interval) = state.withLock { ($0.isInUse, $0.sweepInterval) }
        guard isInUse, let interval else { return }
        let now = timeSource.now
        let seconds = max(interval, .seconds(1)).inSeconds
        if await performInBackground({ [store] in store.isSweepDue(after: seconds, now: now) }) { await sweep() }
    }

    /// Continues with the interval that is in effect after the first sweep.
    private func repeatSweeping() {
        let former = state.withLock { state in
            state.hasSwept = true
            return restartSweeping(&state)
        }
        withExtendedLifetime(former) {}
    }
}
