import Foundation
import HalcyonSystem

extension DiskCache {
    /// The limits of a `DiskCache`.
    public struct Configuration: Sendable, Hashable {
        /// The maximum total length of the files, in bytes. Nil, the default, is the smaller of 1 GiB and a tenth of the
        /// space that would be free on the disk if the cache were empty.
        public var sizeLimit: Int?
        /// The time for which entries without an expiration of their own are kept. Default: 7 days.
        public var expiration: StorageExpiration
        /// The effect of a read on an entry's expiration. Default: the entry is kept for its own lifetime again.
        public var accessExtension: ExpirationExtension
        /// The maximum size of the staged writes in memory, in bytes. Default: the smaller of 32 MiB and 5 % of the memory
        /// that the system grants this process.
        public var stagingLimit: Int

        /// Whether the name of an entry's file is the hash of its key. Default: true.
        ///
        /// Otherwise it is the key's name, percent-encoded, up to 180 bytes; a longer one is truncated and ends in "~" and
        /// the hash. Entries that were written with another setting of this or of `fileExtension` are not found any more;
        /// they are removed like the others, when they expire or room is needed.
        public var usesHashedFileName: Bool
        /// The extension of an entry's file name. Default: none.
        public var fileExtension: FileExtension
        /// Folders that are searched, in this order, for entries that this cache does not have, such as a folder shipped
        /// with a program.
        ///
        /// They have the layout of a cache's folder, with this cache's file names or with plain hashes. Entries in them
        /// never expire and are never changed, counted or removed, neither by `remove` nor if they are damaged. The cache's
        /// own folder is ignored here. Default: none.
        public var readOnlyFolders: [URL]
        /// The size in bytes from which a file is mapped into memory instead of read. Nil, the default, reads all files.
        ///
        /// A mapping lives as long as the entry's `data`. It saves a copy, and memory that the system has to provide; but
        /// if another program of this user truncates the file meanwhile, this process ends with SIGBUS, which is why
        /// nothing is mapped by default, and never where other users may write. The cache itself never changes a file after
        /// it has got its name.
        public var mappedReads: Int?
        /// Whether the folder may belong to another user, or be writable for others. Default: false.
        ///
        /// Otherwise reads from such a folder are misses and writes fail with `DiskCacheError.foreignFolder`, since any
        /// user who can write there can plant images. Set it to true for a folder that no other user can reach, such as a
        /// volume of a container whose files belong to another user. Folders of the superuser are treated like the user's
        /// own.
        public var allowsForeignFolder: Bool
        /// The data that must be on the disk itself before a write is complete. Default: none.
        public var synchronization: Synchronization
        /// The interval at which expired entries are removed, and the others trimmed if they exceed the limit. Default:
        /// half an hour; nil leaves it to `sweep()`.
        ///
        /// An expired entry is a miss in any case, so that this is only about space: half an hour is short compared to the
        /// days that entries are kept, and a sweep takes a tenth of a second of work for 100,000 of them. The first sweep
        /// is a minute after the first read or write, so that it does not coincide with the start of the program; a program
        /// that ends earlier sweeps in `shutdown`. Less than a second counts as a second.
        public var sweepInterval: Duration?

        /// Creates a configuration; omitted arguments take the defaults that the properties state.
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

extension DiskCache {
    /// The data that must be on the disk itself, and not only in the system's cache, before a write is complete.
    ///
    /// Without synchronization an entry survives any end of the program, but perhaps not a power failure: a file that this
    /// truncates is detected by its checksums, and is a miss. A write whose synchronization fails counts as failed.
    public enum Synchronization: Sendable, Hashable {
        /// No data is synchronized.
        case none
        /// The entry's bytes, before they get their file name (`fdatasync`): takes milliseconds an entry.
        case data
        /// The file name too (`fsync` of the folder): takes about twice as long. If only that fails, the entry is removed.
        case full
    }
}
