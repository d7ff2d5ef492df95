extension ImageDownloader {
    /// The number of active transfers: running, waiting for a slot, or waiting for their next attempt.
    public var activeCount: Int { hub.flightCount }

    /// The number of running transfers.
    public var runningCount: Int { slots.runningCount }

    /// The number of running transfers that wait for their servers.
    package var silentCount: Int { paces.waitingCount }

    /// The number of transfers that wait for a slot.
    public var waitingCount: Int { slots.waitingCount }

    /// The number of downloads that have not ended; several may share a transfer.
    public var subscriberCount: Int { hub.subscriberCount }

    /// The number of concurrent transfers to one host and port, at first that of the configuration; less than 1 counts as 1.
    ///
    /// If it is lowered, running transfers continue; if it is raised, waiting ones start at once.
    public var transfersPerHost: Int {
        get { slots.limits.perHost }
        set { slots.changeLimits { $0.perHost = newValue } }
    }

    /// The number of concurrent transfers in all, at first that of the configuration; less than 1 counts as 1.
    ///
    /// If it is lowered, running transfers continue; if it is raised, waiting ones start at once.
    public var transfers: Int {
        get { slots.limits.total }
        set { slots.changeLimits { $0.total = newValue } }
    }

    /// Suspends the queue: no transfer starts until `resume()`.
    ///
    /// Running transfers continue, including redirects; a retry waits. Timeouts continue to run. Calls do not add up:
    /// one `resume()` is enough.
    public func suspend() {
        slots.setSuspended(true)
    }

    /// Resumes the queue: starts the transfers that have waited since `suspend()`, by priority and order.
    public func resume() {
        slots.setSuspended(false)
    }

    /// Whether the queue is suspended.
    public var isSuspended: Bool { slots.isSuspended }
}
