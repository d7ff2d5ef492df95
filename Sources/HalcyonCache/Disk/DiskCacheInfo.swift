import Foundation

extension DiskCache {
    /// A summary of the contents of a disk cache's folder.
    public struct Info: Sendable, Hashable {
        /// The folder of the cache.
        public var folder: URL
        /// The number of entries, including expired ones.
        public var entries: Int
        /// The total length of their files in bytes.
        public var bytes: Int
        /// The number of expired entries.
        public var expired: Int
        /// The last access of the least recently used entry; nil if the cache is empty.
        public var oldest: Date?
    }

    /// The number and size of removed entries.
    public struct Removal: Sendable, Hashable {
        /// The number of removed entries.
        public var entries = 0
        /// The total length of their files in bytes.
        public var bytes = 0

        /// Creates a removal of no entries.
        package init() {}
    }

    /// An entry as listed by `entries()`, without its bytes.
    public struct EntryInfo: Sendable, Hashable {
        /// The key under which the entry is stored.
        public var key: CacheKey
        /// The metadata that the cache's owner stores with the bytes, such as HTTP headers.
        public var metadata: Data
        /// The extended data that the caller stores with the bytes.
        public var extended: Data
        /// The length of the entry's bytes.
        public var dataSize: Int
        /// The length of the entry's file in bytes.
        public var fileSize: Int
        /// The time at which the bytes were stored. New metadata does not change it.
        public var storedAt: Date
        /// The time of the last access, to which reads update it in steps of a minute.
        public var lastAccess: Date
        /// The time at which the entry expires unless an access extends it; nil is never.
        public var keptUntil: Date?
    }
}

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

        /// Creates statistics with all counters at 0.
        package init() {}
    }
}
