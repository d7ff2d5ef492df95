extension DiskCache {
    /// How a disk cache has fared since it was made.
    public struct Statistics: Sendable, Hashable {
        /// Reads that found an entry, staged or on the disk.
        public var hits = 0
        /// Reads that found none, or none that could be used.
        public var misses = 0
        /// Entries written.
        public var writes = 0
        /// Writes that failed: their entries are not cached.
        public var failedWrites = 0
        /// Why the last of them failed.
        public var lastWriteError: DiskCacheError?
        /// Files removed because they were not whole.
        public var damaged = 0
        /// Bytes that wait to be written.
        public var stagedBytes = 0

        public init() {}
    }
}
