import Foundation
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem

/// What the disk holds of a source.
struct StoredOriginal: Sendable {
    let data: Data
    let http: HTTPCacheMetadata?
    /// The same as it is stored.
    let metadata: Data
    /// Where it is: its user's place, or everybody's.
    let place: DiskKey

    /// Whether it may stand in for an answer that cannot be had (RFC 9111, 4.2.4).
    var mayBeServedStale: Bool {
        http?.mayBeServedStale ?? true
    }

    func fetched(_ rule: CacheRule, mark: SourceMark, memory: ByteBudget.Hold? = nil) -> FetchedData {
        FetchedData(
            data: data, origin: rule.isStale ? .stale : .disk, http: http, rule: rule, memory: memory, mark: mark)
    }
}
