import Foundation
import HalcyonNetwork
import HalcyonSystem

/// A source's bytes on their way through the graph.
///
/// A class, so that decodes of the same bytes find each other by identity, and so that a fetch can be joined for as long
/// as anybody still works with what it brought.
final class FetchedData: Sendable {
    let data: Data
    let origin: ImageOrigin
    /// What HTTP said of them; nil for a file or data.
    let http: HTTPCacheMetadata?
    /// Which of HTTP's rules applied; nil for a file or data.
    let rule: CacheRule?
    let transfer: TransportMetrics?
    /// False where the bytes may not be those that the key names: a file that changed while it was read.
    let matchesKey: Bool
    /// When the work for them began; nil for what is local.
    let mark: SourceMark?
    private let stored: Lock<Bool>
    /// What the bytes take of the room for those that wait to be decoded.
    private let memory: Lock<ByteBudget.Hold?>

    /// - Parameter isStored: whether the disk has them; nil is as the origin says.
    init(
        data: Data, origin: ImageOrigin, http: HTTPCacheMetadata? = nil, rule: CacheRule? = nil,
        transfer: TransportMetrics? = nil, isStored: Bool? = nil,
        matchesKey: Bool = true, memory: ByteBudget.Hold? = nil, mark: SourceMark? = nil
    ) {
        self.mark = mark
        self.memory = Lock(memory)
        memory?.grow(to: data.count)
        self.data = data
        self.origin = origin
        self.http = http
        self.rule = rule
        self.transfer = transfer
        self.matchesKey = matchesKey
        // What came from a cache or a file is not written to the disk again.
        stored = Lock(isStored ?? (origin != .network))
    }

    /// The bytes are of no use. Who waits for others must not keep room from those who wait to be decoded.
    func giveUpMemory() {
        let hold = memory.withLock { memory in
            defer { memory = nil }
            return memory
        }
        // It comes back here, where no lock is held.
        withExtendedLifetime(hold) {}
    }

    /// Whether a cache may keep what is made of them.
    var mayBeKept: Bool {
        if case .notStored = rule { return false }
        return matchesKey && http?.noStore != true
    }

    /// Whether a cache has something newer by now.
    func isOutdated(in levels: CachePolicy.Levels) -> Bool {
        mark?.isOutdated(in: levels, isAnswer: origin == .network || origin == .revalidated) ?? false
    }

    /// True for the first one who asks: bytes are stored once they have proved to be an image, and then only once.
    func claimStore() -> Bool {
        stored.withLock { stored in
            defer { stored = true }
            return !stored
        }
    }
}

extension FetchedData {
    var provenance: Provenance {
        Provenance(origin: origin, rule: rule, http: http, encodedBytes: data.count, mayBeKept: mayBeKept)
    }

    var cameFromDisk: Bool { [.disk, .revalidated, .stale].contains(origin) }
}

/// The fetches whose bytes somebody still works with: a request that comes between the end of a fetch and the store of its
/// bytes finds them here, and does not ask the server a second time.
struct RecentFetches {
    private struct Weak {
        weak var fetched: FetchedData?
    }

    private var fetches: [FetchKey: Weak] = [:]
    private var limit = 64

    /// The bytes of a fetch; nil for a reload, which asks the server whoever else has just done so, and if a cache has newer
    /// ones.
    subscript(key: FetchKey) -> FetchedData? {
        get {
            guard key.readsDisk, let fetched = fetches[key]?.fetched, !fetched.isOutdated(in: .all) else { return nil }
            return fetched
        }
        set {
            fetches[key] = newValue.map { Weak(fetched: $0) }
            guard fetches.count > limit else { return }
            fetches = fetches.filter { $0.value.fetched != nil }
            // Twice the number that is alive, so that looking through them costs a constant time each on average.
            limit = max(64, fetches.count * 2)
        }
    }

    mutating func forget(_ fetched: FetchedData, _ key: FetchKey) {
        if fetches[key]?.fetched === fetched { fetches[key] = nil }
    }
}
