extension DiskCache {
    /// The counters of a disk cache since it was created.
    public struct Statistics: Sendable, Hashable {
        /// The number of reads that found an entry, staged or on the disk.
        public var hits = 0
        /// The number of reads that found no entry, or none that could be used.
        public var misses = 0
        /// The number of entries written.
        public var writes = 0
        /// The number of writes that failed. Their entries are not cached.
        public var failedWrites = 0
        /// The error of the last failed write.
        public var lastWriteError: DiskCacheError?
        /// The number of files removed because they were incomplete or damaged.
        public var damaged = 0
        /// The number of bytes that wait to be written.
        public var stagedBytes = 0

        public init() {}
    }
}
