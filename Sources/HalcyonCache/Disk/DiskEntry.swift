import Foundation

/// What a disk cache has under a key.
public struct DiskEntry: Sendable, Hashable {
    /// The bytes.
    public let data: Data
    /// What the cache's owner keeps beside them, such as HTTP headers.
    public let metadata: Data
    /// What the caller keeps beside them.
    public let extended: Data
    /// When the entry ends unless an access extends it; nil is never.
    public let keptUntil: Date?
    /// When the bytes were stored. New metadata does not change it.
    public let storedAt: Date
}
