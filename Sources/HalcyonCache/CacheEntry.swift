import Foundation

/// An entry of a disk cache, or of another store.
public struct CacheEntry: Sendable, Hashable {
    /// The cached bytes.
    public let data: Data
    /// The metadata that the cache's owner stores with the bytes, such as HTTP headers.
    public let metadata: Data
    /// The extended data that the caller stores with the bytes.
    public let extended: Data
    /// The time at which the entry expires unless an access extends it; nil is never.
    public let keptUntil: Date?
    /// The time at which the bytes were stored. New metadata does not change it.
    public let storedAt: Date

    /// Creates an entry, as a store returns it.
    public init(data: Data, metadata: Data, extended: Data, keptUntil: Date?, storedAt: Date) {
        (self.data, self.metadata, self.extended) = (data, metadata, extended)
        (self.keptUntil, self.storedAt) = (keptUntil, storedAt)
    }
}
