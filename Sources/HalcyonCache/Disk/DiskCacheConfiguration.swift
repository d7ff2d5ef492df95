import HalcyonSystem

extension DiskCache {
    /// The limits of a `DiskCache`.
    public struct Configuration: Sendable, Hashable {
        /// What the files may occupy together, in bytes, by their lengths. Nil, the default, is the smaller of 1 GiB and
        /// a tenth of what would be free on the disk if the cache were empty.
        public var sizeLimit: Int?
        /// How long an entry is kept that says nothing else. Default: 7 days.
        public var expiration: StorageExpiration
        /// What a read does to the time an entry is kept. Default: it gets its own lifetime again.
        public var accessExtension: ExpirationExtension
        /// What staged writes may hold in memory, in bytes. Default: the smaller of 32 MiB and 5 % of the memory that
        /// the system grants this process.
        public var stagingLimit: Int

        public init(
            sizeLimit: Int? = nil,
            expiration: StorageExpiration = .days(7),
            accessExtension: ExpirationExtension = .cacheTime,
            stagingLimit: Int = Configuration.defaultStagingLimit
        ) {
            self.sizeLimit = sizeLimit
            self.expiration = expiration
            self.accessExtension = accessExtension
            self.stagingLimit = stagingLimit
        }

        /// The smaller of 32 MiB and 5 % of the memory that the system grants this process.
        public static var defaultStagingLimit: Int {
            min(32 << 20, SystemGrant.current.memory / 20)
        }
    }
}
