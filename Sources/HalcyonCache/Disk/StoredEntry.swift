import Foundation

/// An entry that was read, with the data about it that only the cache itself needs.
struct StoredEntry: Sendable {
    var entry: DiskEntry
    var lifetime: TimeInterval
    var keptUntil: FileTime
    /// The file from which the entry was read.
    var file: FileStatus
}
