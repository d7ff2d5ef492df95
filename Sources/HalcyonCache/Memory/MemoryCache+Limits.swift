import HalcyonSystem

/// The limits of a cache that is in use.
extension MemoryCache {
    /// The limits of the cache. A change takes effect at once, without a loss of entries that the new limits allow.
    ///
    /// Entries above a lower `costLimit` or `countLimit` are evicted before the setter returns. A new `entryCostLimit` applies to
    /// entries that are inserted from then on. A new `timeToLive` counts from the last access of each entry, and does not apply to
    /// entries with an expiration of their own. A new `sweepInterval` begins anew; any other change leaves the sweeps alone.
    ///
    /// A change of the time to live, or one that evicts, costs some nanoseconds for each entry. If several threads set limits, the
    /// last one wins: a change of one property sets the others to the values that were read before it.
    public var configuration: MemoryCacheConfiguration {
        get { state.withLock { $0.configuration } }
        set {
            let (now, limits) = (clock.now(), CacheLimits(newValue))
            let (isTimeNew, isIntervalNew) = state.withLock { state in
                let former = state.configuration
                (state.configuration, state.limits) = (newValue, limits)
                let isTimeNew = former.timeToLive != newValue.timeToLive
                if isTimeNew { rebase(to: newValue.lifetime, now: now) }
                return (isTimeNew, former.sweepInterval != newValue.sweepInterval)
            }
            trim(toCost: limits.cost, count: limits.count)
            if isTimeNew { removeExpired() }
            if isIntervalNew { restartSweeping() }
        }
    }

    /// Gives a new time to live to all entries without an expiration of their own. Called under the lock of the state, so that no
    /// entry comes in with the former one.
    private func rebase(to time: Double, now: Double) {
        lifetime.store(time, ordering: .relaxed)
        for index in 0..<shards.count { shards.withLock(index) { $0.rebase(to: time, now: now) } }
    }

    // MARK: Sweeps

    /// Starts to remove the expired entries every `sweepInterval`, or stops it if there is none.
    @usableFromInline
    func beginSweeping() {
        // The interval is read under the lock under which the timer is set, so that the last one that was set gets the timer.
        let former = sweep.withLock { sweep in
            let former = sweep
            sweep = state.withLock { $0.configuration.sweepInterval }.map { interval in
                // At least a second, since without a pause between two sweeps the timer would do nothing else, and at most a year,
                // since a timer cannot count more than some centuries.
                RepeatingWork(every: max(interval, .seconds(1)).forTimer, timeSource: timeSource) { [weak self] in
                    self?.removeExpired()
                }
            }
            return former
        }
        // Its end cancels a wait of the time source, which is foreign code.
        withExtendedLifetime(former) {}
    }

    /// Begins the sweeps anew if there are entries; otherwise the next insert does.
    private func restartSweeping() {
        let former = sweep.withLock { $0.take() }
        withExtendedLifetime(former) {}
        let isDue = state.withLock { state in
            let hasInterval = state.configuration.sweepInterval != nil
            state.sweeps = !hasInterval || state.count > 0
            return hasInterval && state.count > 0
        }
        if isDue { beginSweeping() }
    }
}

/// The limits of cost and count, as inserts compare with them.
@usableFromInline
struct CacheLimits: Sendable {
    @usableFromInline let cost: Int
    @usableFromInline let count: Int
    /// Never above `cost`: an entry that it admits has room once all others have gone.
    @usableFromInline let entryCost: Int

    init(_ configuration: MemoryCacheConfiguration) {
        cost = max(0, configuration.costLimit)
        count = max(0, configuration.countLimit ?? .max)
        entryCost = min(configuration.entryCostLimit ?? cost / 2, cost)
    }

    /// Returns whether an entry may be stored at all.
    @inlinable
    func admits(_ mark: EntryMark) -> Bool { mark.cost <= entryCost && count > 0 }
}

extension MemoryCacheConfiguration {
    /// The time to live in seconds; infinity for none.
    var lifetime: Double { timeToLive?.inSeconds ?? .infinity }
}
