import Foundation

extension DiskCache {
    /// What lies in a disk cache's folder.
    public struct Info: Sendable, Hashable {
        /// The folder.
        public var folder: URL
        /// How many entries there are, expired ones too.
        public var entries: Int
        /// Their files' lengths together.
        public var bytes: Int
        /// How many of them are past their time.
        public var expired: Int
        /// The longest-unused entry's last access; nil in an empty cache.
        public var oldest: Date?
    }

    /// What has been removed.
    public struct Removal: Sendable, Hashable {
        /// How many entries.
        public var entries = 0
        /// Their files' lengths together.
        public var bytes = 0

        public init() {}
    }

    /// An entry as a listing shows it: all but its bytes.
    public struct EntryInfo: Sendable, Hashable {
        public var key: DiskKey
        public var metadata: Data
        public var extended: Data
        /// The length of the entry's bytes.
        public var dataSize: Int
        /// The length of its file.
        public var fileSize: Int
        public var storedAt: Date
        public var lastAccess: Date
        /// When the entry ends unless an access extends it; nil is never.
        public var keptUntil: Date?
    }
}
