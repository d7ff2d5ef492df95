import Foundation
import HalcyonNetwork
import HalcyonSystem

/// What the disk holds of a source.
struct StoredOriginal: Sendable {
    let data: Data
    let http: HTTPCacheMetadata?
    /// The same as it is stored.
    let metadata: Data

    /// Without HTTP's word an entry is fresh for as long as the disk keeps it.
    func isFresh(at now: Date) -> Bool {
        http.map { $0.state(at: now) == .fresh } ?? true
    }

    /// Whether it may stand in for an answer that cannot be had (RFC 9111, 4.2.4).
    var mayBeServedStale: Bool {
        http?.mayBeServedStale ?? true
    }

    func fetched(_ origin: ImageOrigin, memory: ByteBudget.Hold? = nil) -> FetchedData {
        FetchedData(data: data, origin: origin, http: http, memory: memory)
    }
}
