extension RedisStore {
    /// The counters of a `RedisStore` since it was made.
    public struct Statistics: Sendable, Hashable {
        /// The look-ups that found an entry.
        public var hits = 0
        /// The look-ups that found none, with those that found a damaged or a foreign one.
        public var misses = 0
        /// The damaged and foreign values among the misses; they were removed.
        public var damaged = 0
        /// The look-ups that were not answered, and those that were not asked since the server is suspended.
        public var unanswered = 0
        /// The entries that were stored.
        public var stores = 0
        /// The entries that were not stored, for any reason but a cancelled task.
        public var failedStores = 0
        /// The failures of the server: connections that were refused or ended, answers that were late, errors or garbage.
        public var failures = 0
        /// The times that the server was suspended after several failures in a row, without the probes that failed then.
        public var suspensions = 0
        /// The bytes of the values that look-ups received.
        public var bytesRead = 0
        /// The bytes of the values that were stored.
        public var bytesWritten = 0
        /// The claims that were granted.
        public var claimsGranted = 0
        /// The claims that ended with an entry of another process.
        public var claimsStored = 0
        /// The claims that ended without either.
        public var claimsAlone = 0
    }
}
