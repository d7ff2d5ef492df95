extension ImagePrefetcher {
    /// How many requests have ended, and how.
    public struct Progress: Sendable, Hashable {
        /// Were there already, or are such as the destination does not keep.
        public var skipped = 0
        /// Ended with an error; those that were under way when the prefetcher was stopped, too.
        public var failed = 0
        /// Were loaded.
        public var completed = 0
        /// Requests in all.
        public var total: Int

        public init(skipped: Int = 0, failed: Int = 0, completed: Int = 0, total: Int) {
            self.skipped = skipped
            self.failed = failed
            self.completed = completed
            self.total = total
        }
    }
}
