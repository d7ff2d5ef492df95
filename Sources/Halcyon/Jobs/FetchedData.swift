import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonNetwork
import HalcyonSystem

/// The bytes of a source on their way through the job graph, or the image of a provider that has no bytes.
///
/// It is a class, so that decodes of the same bytes find each other by identity, and so that a fetch can be joined for
/// as long as any load still works with its bytes.
final class FetchedData: Sendable {
    /// The bytes; empty if there is an image in their place.
    let data: Data
    /// The image in the place of bytes.
    let made: MadeImage?
    let provenance: Provenance
    let transfer: TransportMetrics?
    /// The entry on disk that the bytes were read from.
    let entry: StoredEntry?
    /// The moment at which the work for the bytes began; nil if nothing is kept of them.
    let mark: SourceMark?
    /// The claim of this process to fetch the bytes, which ends once they are stored or nobody works with them any more.
    let claim: CacheClaimToken?

    private struct State {
        var isStored: Bool
        /// The reservation of the bytes in the budget for those that wait to be decoded.
        var memory: ByteBudget.Hold?
    }

    private let state: Lock<State>

    /// - Parameters:
    ///   - http: the HTTP metadata of the bytes; nil for a file or data.
    ///   - rule: the HTTP cache rule that applied; nil for a file or data.
    ///   - isStored: whether the disk has the bytes; nil derives it from the origin.
    ///   - matchesKey: whether the bytes are those that the key names; false for a file that changed while it was read,
    ///     and for an answer that was sent to another user.
    init(
        data: Data, made: MadeImage? = nil, origin: ImageOrigin, http: HTTPCacheMetadata? = nil, rule: CacheRule? = nil,
        transfer: TransportMetrics? = nil, entry: StoredEntry? = nil, isStored: Bool? = nil,
        matchesKey: Bool = true, memory: ByteBudget.Hold? = nil, mark: SourceMark? = nil,
        claim: CacheClaimToken? = nil
    ) {
        (self.data, self.made) = (data, made)
        let isRefused = if case .notStored = rule { true } else { false }
        provenance = Provenance(
            origin: origin, rule: rule, http: http, encodedBytes: data.count,
            mayBeKept: matchesKey && !isRefused && http?.noStore != true)
        (self.transfer, self.entry, self.mark, self.claim) = (transfer, entry, mark, claim)
        memory?.grow(to: made?.image.cost ?? data.count)
        // Bytes from a cache or a file are not written to the disk again.
        state = Lock(State(isStored: isStored ?? !origin.isNew, memory: memory))
    }

    /// The bytes; nil if there is an image in their place.
    var bytes: Data? { made == nil ? data : nil }

    /// Returns the bytes, which are encoded without loss if there is an image in their place.
    ///
    /// - Throws: `ImagePipelineError.encoding`; `CancellationError`.
    func encoded(for resolved: ResolvedRequest, ticket: WorkTicket) async throws -> FetchedData {
        guard let image = made?.image else { return self }
        let coders = resolved.coordinator.configuration.coders
        do {
            let data = try await resolved.coordinator.threads.run(ticket: ticket) {
                try DefaultCacheSerializer.losslessFile(of: image, coders, context: $0)
            }
            return FetchedData(
                data: data, origin: provenance.origin, matchesKey: provenance.mayBeKept, mark: mark)
        } catch {
            throw ImagePipelineError.encoder(error, as: .png, source: resolved.source)
        }
    }

    /// Releases the memory reservation, since the bytes are of no use. A load that waits for other bytes must not hold
    /// a reservation that bytes waiting to be decoded need.
    func giveUpMemory() {
        let hold = state.withLock { state in
            defer { state.memory = nil }
            return state.memory
        }
        // The reservation is released here, where no lock is held.
        withExtendedLifetime(hold) {}
    }

    /// Whether a cache has received something newer since.
    func isOutdated(in levels: CacheLevels) -> Bool {
        let origin = provenance.origin
        return mark?.isOutdated(in: levels, isAnswer: origin.isNew || origin == .revalidated) ?? false
    }

    /// Claims the right to store the bytes: true for the first caller only. Bytes are stored once they have proved to
    /// be an image, and then only once.
    func claimStore() -> Bool {
        state.withLock { state in
            defer { state.isStored = true }
            return !state.isStored
        }
    }
}

// MARK: - Bytes on disk

/// An entry on disk as it was read.
struct StoredEntry: Sendable {
    /// The key of the entry: that of its user, or that of all users.
    let key: CacheKey
    /// The encoded metadata, which a later update replaces only if nothing else has.
    let metadata: Data
}

extension FetchedData {
    /// Reads the source's bytes from the disk, whether or not they may be used without the server.
    ///
    /// - Returns: nil if the disk has none for this request.
    static func stored(for resolved: ResolvedRequest, ticket: WorkTicket) async -> FetchedData? {
        await find(resolved, ticket: ticket).stored
    }

    /// Returns the stored bytes, or the reason why the disk has none for this request.
    ///
    /// - Parameter place: where they are looked for.
    static func find(
        _ resolved: ResolvedRequest, in place: CacheStoreChain.Place = .everywhere, ticket: WorkTicket
    ) async -> (stored: FetchedData?, miss: CacheMiss.Reason) {
        guard resolved.cachePolicy.reads.contains(.diskOriginal), resolved.mayUse(.diskOriginal) else {
            return (nil, .policy)
        }
        var reader = DiskImageReader(resolved.originals, resolved, ticket: ticket)
        reader.place = place
        guard let (entry, key) = await reader.originalEntry(resolved.key) else { return (nil, .notFound) }
        let http = HTTPCacheMetadata(decoding: entry.metadata)
        // An answer to other header fields is not worth reading, since the server cannot confirm it either.
        if resolved.cachePolicy.freshness != .ignore, !FreshnessCheck(resolved).matchesVaryingFields(http) {
            return (nil, .varyMismatch)
        }
        do {
            let data = try await reader.bytes(of: entry)
            let stored = StoredEntry(key: key, metadata: entry.metadata)
            return (FetchedData(data: data, origin: .disk, http: http, entry: stored), .expired)
        } catch is CodecError {
            await resolved.originals.entries?.remove(key)
            return (nil, .notFound)
        } catch {
            return (nil, .notFound)
        }
    }

    /// Returns the stored bytes as an answer that is used by a rule.
    func used(by rule: CacheRule?, mark: SourceMark, memory: ByteBudget.Hold? = nil) -> FetchedData {
        FetchedData(
            data: data, origin: rule.origin(.disk), http: provenance.http, rule: rule, entry: entry, memory: memory,
            mark: mark)
    }
}

/// The fetches whose bytes are still in use. A request made between the end of a fetch and the store of its bytes finds
/// them here, and does not ask the server a second time.
struct RecentFetches {
    private struct Weak {
        weak var fetched: FetchedData?
    }

    private var fetches: [FetchKey: Weak] = [:]
    private var limit = 64

    /// The bytes of a fetch; nil for a reload, which asks the server even if another fetch has just done so, and if a
    /// cache has newer bytes.
    subscript(key: FetchKey) -> FetchedData? {
        get {
            guard key.readsDisk, let fetched = fetches[key]?.fetched, !fetched.isOutdated(in: .all) else { return nil }
            return fetched
        }
        set {
            fetches[key] = newValue.map { Weak(fetched: $0) }
            guard fetches.count > limit else { return }
            fetches = fetches.filter { $0.value.fetched != nil }
            // Twice the number of live fetches, so that sweeping costs a constant time for each insertion on average.
            limit = max(64, fetches.count * 2)
        }
    }

    mutating func forget(_ fetched: FetchedData, _ key: FetchKey) {
        if fetches[key]?.fetched === fetched { fetches[key] = nil }
    }
}

/// The budget for the encoded bytes of files, disk entries and finished transfers that wait to be decoded.
///
/// Reading is faster than decoding: without a limit, a thousand simultaneous requests would have all their files in
/// memory. The limit is 4 MiB for each core, at most a tenth of the memory grant and at least 8 MiB: no core decodes
/// faster because more bytes are ready. The size of a file is known only once it is read, so each request waits for a
/// reservation of a usual size and then takes the rest.
///
/// A transfer reserves nothing before its end, and then waits for its reservation while it occupies its place among the
/// transfers. This cannot deadlock: a decode needs no such place, and nothing holds a reservation here while it waits
/// for the network.
enum EncodedDataBudget {
    static let budget = ByteBudget(
        capacity: max(8 << 20, min(SystemGrant.current.cores * (4 << 20), SystemGrant.current.memory / 10)))

    private static let usual = 256 << 10

    /// Waits for a reservation of the usual size.
    ///
    /// - Throws: `CancellationError`.
    static func hold(ticket: WorkTicket) async throws -> ByteBudget.Hold {
        try await budget.hold(usual, ticket: ticket)
    }
}
