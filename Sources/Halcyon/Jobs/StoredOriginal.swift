import Foundation
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// The bytes of a source that the disk holds.
struct StoredOriginal: Sendable {
    let data: Data
    let http: HTTPCacheMetadata?
    /// The encoded form of `http`, as it is stored.
    let metadata: Data
    /// The key of the entry: that of its user, or that of all users.
    let place: DiskKey

    /// Whether the bytes may stand in for an answer that cannot be obtained (RFC 9111, 4.2.4).
    var mayBeServedStale: Bool {
        http?.mayBeServedStale ?? true
    }

    func fetched(_ rule: CacheRule?, mark: SourceMark, memory: ByteBudget.Hold? = nil) -> FetchedData {
        FetchedData(
            data: data, origin: rule?.isStale == true ? .stale : .disk, http: http, rule: rule, memory: memory,
            mark: mark)
    }
}

extension StoredOriginal {
    /// Reads the source's bytes from the disk, whether or not they may be used without the server; nil if the disk has
    /// none for this request.
    init?(_ resolved: ResolvedRequest, ticket: WorkTicket) async {
        guard let found = await Self.find(resolved, ticket: ticket).original else { return nil }
        self = found
    }

    /// Returns the stored bytes, or the reason why the disk has none for this request.
    static func find(
        _ resolved: ResolvedRequest, ticket: WorkTicket
    ) async -> (original: StoredOriginal?, miss: CacheMiss.Reason) {
        guard resolved.cachePolicy.reads.contains(.diskOriginal) else { return (nil, .policy) }
        let reader = DiskImageReader(resolved.originals, resolved, ticket: ticket)
        guard let (entry, place) = await reader.originalEntry(resolved.key) else { return (nil, .notFound) }
        let http = HTTPCacheMetadata(decoding: entry.metadata)
        // An answer to other header fields is not worth reading, since the server cannot confirm it either.
        if resolved.cachePolicy.freshness != .ignore, !FreshnessCheck(resolved).matchesVaryingFields(http) {
            return (nil, .varyMismatch)
        }
        do {
            let data = try await reader.bytes(of: entry)
            return (StoredOriginal(data: data, http: http, metadata: entry.metadata, place: place), .expired)
        } catch is CodecError {
            await resolved.originals.disk?.remove(place)
            return (nil, .notFound)
        } catch {
            return (nil, .notFound)
        }
    }
}
