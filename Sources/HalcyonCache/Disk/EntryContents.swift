import Foundation

/// The contents of an entry to be written.
struct EntryContents: Sendable {
    var data: Data
    var metadata: Data
    var extended: Data
    var storedAt: Date
    /// The seconds by which an access extends the entry; infinity for never expiring.
    var lifetime: TimeInterval
    var keptUntil: FileTime

    /// Creates the contents of a new entry.
    ///
    /// - Returns: nil if the entry would have expired already.
    init?(data: Data, metadata: Data, extended: Data, expiration: StorageExpiration, now: Date) {
        let lifetime = expiration.lifetime(from: now)
        guard lifetime > 0 else { return nil }
        self.data = data
        self.metadata = metadata
        self.extended = extended
        self.lifetime = lifetime
        storedAt = now
        keptUntil = FileTime(now.addingTimeInterval(lifetime))
    }

    /// Creates the contents of an entry that was read.
    init(_ stored: StoredEntry) {
        data = stored.entry.data
        metadata = stored.entry.metadata
        extended = stored.entry.extended
        storedAt = stored.entry.storedAt
        lifetime = stored.lifetime
        keptUntil = stored.keptUntil
    }

    /// Creates a copy with other metadata.
    ///
    /// - Parameter expiration: nil leaves the expiration unchanged.
    /// - Returns: nil if the entry would have expired already.
    init?(_ contents: EntryContents, metadata: Data, expiration: StorageExpiration?, now: Date) {
        self = contents
        self.metadata = metadata
        guard let expiration else { return }
        lifetime = expiration.lifetime(from: now)
        guard lifetime > 0 else { return nil }
        keptUntil = FileTime(now.addingTimeInterval(lifetime))
    }

    /// The length of the entry's file in bytes.
    func fileSize(for key: CacheKey) -> Int {
        data.count + metadata.count + extended.count + key.bytes.count + EntryFooter.size
    }

    func entry() -> CacheEntry {
        CacheEntry(
            data: data, metadata: metadata, extended: extended,
            keptUntil: keptUntil == .latest ? nil : keptUntil.date, storedAt: storedAt)
    }

    /// Returns the bytes behind the payload in the entry's file.
    func trailer(for key: CacheKey) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(key.bytes.count + metadata.count + extended.count + EntryFooter.size)
        bytes += key.bytes
        bytes += metadata
        bytes += extended
        let footer = EntryFooter(
            payloadLength: data.count, extendedLength: extended.count, keyLength: key.bytes.count,
            metadataLength: metadata.count, storedAt: EntryTimes.nanoseconds(storedAt.timeIntervalSince1970),
            lifetime: EntryTimes.nanoseconds(lifetime),
            payloadChecksum: data.withUnsafeBytes { EntryFooter.checksum($0) })
        footer.append(to: &bytes)
        return bytes
    }
}

/// An entry that was read, with the data about it that only the cache itself needs.
struct StoredEntry: Sendable {
    var entry: CacheEntry
    var lifetime: TimeInterval
    var keptUntil: FileTime
    /// The file from which the entry was read.
    var file: FileStatus
}
