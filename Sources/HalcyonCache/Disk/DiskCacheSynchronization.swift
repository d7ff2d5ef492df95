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
