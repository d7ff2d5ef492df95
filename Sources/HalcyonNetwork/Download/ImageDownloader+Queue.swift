extension ImageDownloader {
    /// Transfers that are under way: they run, wait for their turn, or wait for their next attempt.
    public var activeCount: Int { hub.flightCount }

    /// Transfers that run now.
    public var runningCount: Int { slots.runningCount }

    /// Transfers that run and wait for their servers.
    package var silentCount: Int { paces.waitingCount }

    /// Transfers that wait for their turn.
    public var waitingCount: Int { slots.waitingCount }

    /// Downloads that were asked for and have not ended; several may share a transfer.
    public var subscriberCount: Int { hub.subscriberCount }

    /// Transfers at once to one host and port, at first the configuration's; less than 1 is 1.
    ///
    /// What runs goes on when there are fewer, and what waits starts at once when there are more.
    public var transfersPerHost: Int {
        get { slots.limits.perHost }
        set { slots.changeLimits { $0.perHost = newValue } }
    }

    /// Transfers at once in all, at first the configuration's; less than 1 is 1.
    ///
    /// What runs goes on when there are fewer, and what waits starts at once when there are more.
    public var transfers: Int {
        get { slots.limits.total }
        set { slots.changeLimits { $0.total = newValue } }
    }

    /// Starts no transfer until `resume()`.
    ///
    /// What runs goes on, redirects included; a retry waits. Time limits run on. Twice is the same as once.
    public func suspend() {
        slots.setSuspended(true)
    }

    /// Starts what has waited since `suspend()`, by priority and order.
    public func resume() {
        slots.setSuspended(false)
    }

    /// Whether `suspend()` holds the queue.
    public var isSuspended: Bool { slots.isSuspended }
}
