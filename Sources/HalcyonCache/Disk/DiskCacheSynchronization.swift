extension DiskCache {
    /// What has to be on the disk itself, and not only with the system, before a write counts as done.
    ///
    /// Without any of it an entry survives the end of the program, however it comes, but perhaps not a power cut: what
    /// that leaves short is found out by its checksums, and is a miss. A sync that fails is a write that failed.
    public enum Synchronization: Sendable, Hashable {
        /// Nothing.
        case none
        /// The entry's bytes, before they get their name (`fdatasync`): milliseconds an entry.
        case data
        /// Its name too (`fsync` of the folder): about twice as long. When only that fails, the entry is removed.
        case full
    }
}
