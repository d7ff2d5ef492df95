import Foundation

/// An entry as it was read, with what only the cache itself needs of it.
struct StoredEntry: Sendable {
    var entry: DiskEntry
    var lifetime: TimeInterval
    var keptUntil: FileTime
    /// The file it was read from.
    var file: FileStatus
}
