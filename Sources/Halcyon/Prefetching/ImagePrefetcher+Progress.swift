extension ImagePrefetcher {
    /// The number of requests that have ended, by result.
    public struct Progress: Sendable, Hashable {
        /// The number of requests that were cached already, or that the destination does not store.
        public var skipped = 0
        /// The number of requests that failed, including those that were loading when the prefetcher was stopped.
        public var failed = 0
        /// The number of requests that were loaded.
        public var completed = 0
        /// The number of all requests.
        public var total: Int

        public init(skipped: Int = 0, failed: Int = 0, completed: Int = 0, total: Int) {
            self.skipped = skipped
            self.failed = failed
            self.completed = completed
            self.total = total
        }
    }
}
