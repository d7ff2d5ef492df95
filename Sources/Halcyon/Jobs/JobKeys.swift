import HalcyonCache
import HalcyonCodecs
import HalcyonSystem

/// The key of a load or a step. Equal keys share the image and the way to it.
struct LoadKey: Hashable, Sendable {
    let image: ImageKey
    private(set) var cachePolicy: CachePolicy
    let target: ObjectIdentifier
    private(set) var wantsEveryPreview: Bool
    /// Whether the result may be incomplete, and is then no result for others.
    let allowsIncomplete: Bool
    /// The place of the decode: a load that asks for workers joins none without them.
    let isolation: DecodeIsolation?
    let fetch: FetchKey

    /// Creates the key of the load of a request.
    ///
    /// - Parameter image: the key of the image of a step; nil, the default, takes the request's.
    init(_ resolved: ResolvedRequest, image: ImageKey? = nil) {
        self.image = image ?? resolved.key
        var policy = resolved.cachePolicy
        // Each caller applies these options by itself.
        (policy.acceptsLarger, policy.waitsForStore, policy.readsDiskSynchronously) = (false, false, false)
        cachePolicy = policy
        target = ObjectIdentifier(resolved.target)
        wantsEveryPreview = resolved.request.wantsPreviews && resolved.request.wantsEveryPreview
        allowsIncomplete = resolved.request.decode.allowsIncomplete
        isolation = resolved.request.decode.isolation
        fetch = FetchKey(resolved)
    }

    /// Hashes the image key alone: few loads of one image differ in the rest, and a key is hashed at each step.
    func hash(into hasher: inout Hasher) {
        hasher.combine(image)
    }

    /// The key of a step, which does not depend on the previews and stale images that its load shows.
    var ofStep: LoadKey {
        var key = self
        (key.cachePolicy.showsStale, key.wantsEveryPreview) = (false, false)
        return key
    }
}

/// The key of a fetch. Equal keys share the source's bytes, whatever is made of them and wherever the result is kept.
///
/// The parts are stored behind one reference: a key is copied and compared at each step of a fetch.
struct FetchKey: Hashable, Sendable {
    private struct Parts: Hashable, Sendable {
        let source: ExactString
        let user: KeyedHash?
        let originals: ObjectIdentifier
        /// Whether the fetch is a reload, which asks the server even if another fetch has just done so.
        let isReload: Bool
        let readsDisk: Bool
        /// Whether the fetch writes to the disk: the freshness that a server reports for stored bytes is written to their
        /// entry.
        let writesDisk: Bool
        let freshness: CachePolicy.Freshness
        let allowsNetwork: Bool
        let expiration: StorageExpiration?
        let diskExtension: ExpirationExtension?
        let network: NetworkOptions
        /// The limits and the coders by which the first bytes may end the transfer; nil if they do not.
        let limits: DecodeLimits?
        let coders: ObjectIdentifier?
        let wantsPreviews: Bool
        let isRevalidation: Bool
        /// The serializer, which reads the stored bytes and writes those that arrive.
        let serializer: SerializerKey
    }

    private final class Box: Sendable {
        let parts: Parts

        init(_ parts: Parts) {
            self.parts = parts
        }
    }

    private let box: Box
    /// The hash of the source alone: few fetches of one source differ in the rest.
    private let hash: Int
    /// The number of times that other fetches have brought something newer. No request joins a fetch that began before
    /// that.
    private var era = 0

    var readsDisk: Bool { box.parts.readsDisk }

    init(_ resolved: ResolvedRequest) {
        let policy = resolved.cachePolicy
        let source = ExactString(resolved.key.source)
        let network = resolved.request.network
        box = Box(
            Parts(
                source: source, user: resolved.key.user, originals: ObjectIdentifier(resolved.originals),
                isReload: policy.reads.isEmpty, readsDisk: policy.reads.contains(.diskOriginal),
                writesDisk: policy.writes.contains(.diskOriginal), freshness: policy.freshness,
                allowsNetwork: policy.allowsNetwork, expiration: policy.diskExpiration,
                diskExtension: policy.diskExtension, network: network,
                limits: network.stopsAtLimits ? resolved.request.decode.limits : nil,
                coders: network.stopsAtLimits ? ObjectIdentifier(resolved.coders) : nil,
                wantsPreviews: resolved.request.wantsPreviews, isRevalidation: resolved.isRevalidation,
                serializer: SerializerKey(resolved.serializer)))
        hash = source.hashValue
        era = resolved.originals.changes.count(for: resolved.key, notBy: self)
    }

    /// Whether the two have equal parts, whatever else has arrived between them.
    func isLike(_ other: FetchKey) -> Bool {
        box === other.box || hash == other.hash && box.parts == other.box.parts
    }

    static func == (left: FetchKey, right: FetchKey) -> Bool { left.era == right.era && left.isLike(right) }

    func hash(into hasher: inout Hasher) {
        hasher.combine(hash)
    }
}

/// The key of an encoding. Equal keys share the encoded bytes and the way to them.
struct EncodeKey: Hashable, Sendable {
    let load: LoadKey
    let encoding: ImageEncoding
}

/// The key of a decode. Equal keys have the same bytes (by identity, since they are in memory) and the same plan, and
/// share their pixels.
struct DecodeKey: Hashable, Sendable {
    let data: ObjectIdentifier
    let coders: ObjectIdentifier
    /// The coders that the registry had: a decode that began with others may end otherwise.
    let generation: Int
    let plan: DecodePlan
    /// The workers that decode; nil for this process.
    let workers: ObjectIdentifier?

    init(_ fetched: FetchedData, _ coders: CoderRegistry, _ generation: Int, _ plan: DecodePlan) {
        (data, self.coders) = (ObjectIdentifier(fetched), ObjectIdentifier(coders))
        (self.generation, self.plan, workers) = (generation, plan, plan.workers.map(ObjectIdentifier.init))
    }
}
