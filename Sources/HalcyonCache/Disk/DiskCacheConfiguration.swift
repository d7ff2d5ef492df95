import Foundation
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

        /// Whether an entry's file is called by its key's hash. Default: true.
        ///
        /// Otherwise by the key's name, percent-encoded, up to 180 bytes; a longer one is cut and ends in "~" and the hash.
        /// Entries that were written with another setting of this or of `fileExtension` are not found any more; they go
        /// with the others, when they expire or room is needed.
        public var usesHashedFileName: Bool
        /// What follows an entry's file name. Default: nothing.
        public var fileExtension: FileExtension
        /// Folders to look in for what this cache does not have, in this order: such as one that a program brings along.
        ///
        /// They are laid out as a cache's folder is, by this cache's file names or by the plain hash. What lies there never
        /// expires and is never changed, removed (by `remove` neither, nor when it is damaged) or counted. The cache's own folder is none of them.
        /// Default: none.
        public var readOnlyFolders: [URL]
        /// From how many bytes on a file is mapped into memory instead of read. Nil, the default, reads all.
        ///
        /// A mapping lives as long as the entry's `data`. It saves a copy, and memory that the system has to find; but a
        /// file that another program of this user cuts short meanwhile ends this process with SIGBUS, which is why nothing
        /// is mapped by default, nor ever where other users may write. This cache itself never changes a file that has its
        /// name.
        public var mappedReads: Int?
        /// Whether the folder may belong to another user, or be open to others. Default: false.
        ///
        /// Reads from such a folder are misses and writes fail with `DiskCacheError.foreignFolder`, since anybody who writes
        /// there can plant images. True is for a folder that nobody else reaches, such as a volume of a
        /// container whose files belong to another user. Folders of the superuser are as good as one's own.
        public var allowsForeignFolder: Bool
        /// What must be on the disk itself before a write is done. Default: nothing.
        public var synchronization: Synchronization
        /// How often expired entries are removed, and the others trimmed where they are over the limit. Default: every half
        /// hour; nil leaves it to `sweep()`.
        ///
        /// An expired entry is a miss in any case, so that this is only about room: half an hour is little beside the days
        /// that entries are kept, and a tenth of a second of work for 100,000 of them. The first time is a minute after
        /// the first write, so that it does not meet the start of the program. Less than a second is a second.
        public var sweepInterval: Duration?

        public init(
            sizeLimit: Int? = nil,
            expiration: StorageExpiration = .days(7),
            accessExtension: ExpirationExtension = .cacheTime,
            stagingLimit: Int = Configuration.defaultStagingLimit,
            usesHashedFileName: Bool = true,
            fileExtension: FileExtension = .none,
            readOnlyFolders: [URL] = [],
            mappedReads: Int? = nil,
            allowsForeignFolder: Bool = false,
            synchronization: Synchronization = .none,
            sweepInterval: Duration? = .seconds(1800)
        ) {
            self.sizeLimit = sizeLimit
            self.expiration = expiration
            self.accessExtension = accessExtension
            self.stagingLimit = stagingLimit
            self.usesHashedFileName = usesHashedFileName
            self.fileExtension = fileExtension
            self.readOnlyFolders = readOnlyFolders
            self.mappedReads = mappedReads
            self.allowsForeignFolder = allowsForeignFolder
            self.synchronization = synchronization
            self.sweepInterval = sweepInterval
        }

        /// The smaller of 32 MiB and 5 % of the memory that the system grants this process.
        public static var defaultStagingLimit: Int {
            min(32 << 20, SystemGrant.current.memory / 20)
        }
    }
}
