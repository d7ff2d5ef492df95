import HalcyonCache
import HalcyonCodecs
import HalcyonSystem

/// Loads and steps that share everything: the image, and the way to it.
struct LoadKey: Hashable, Sendable {
    let image: ImageKey
    private(set) var cache: CachePolicy
    let target: ObjectIdentifier
    private(set) var wantsEveryPreview: Bool
    let fetch: FetchKey

    init(_ resolved: ResolvedRequest, image: ImageKey) {
        self.image = image
        var cache = resolved.cache
        // What each who asked does by itself.
        (cache.acceptsLarger, cache.waitsForStore, cache.readsDiskSynchronously) = (false, false, false)
        self.cache = cache
        target = ObjectIdentifier(resolved.target)
        wantsEveryPreview = resolved.request.wantsPreviews && resolved.request.wantsEveryPreview
        fetch = FetchKey(resolved)
    }

    /// Of the image and its source alone, for the same reason as a fetch's.
    func hash(into hasher: inout Hasher) {
        hasher.combine(image)
    }

    /// That of a step: it is the same whatever its load shows on the way.
    var ofStep: LoadKey {
        var key = self
        (key.cache.showsStale, key.wantsEveryPreview) = (false, false)
        return key
    }
}

/// Fetches that share the source's bytes, whatever is made of them and wherever that is kept.
struct FetchKey: Hashable, Sendable {
    let source: ExactText
    let user: KeyedHash?
    let originals: ObjectIdentifier
    /// A reload asks the server, whoever else has just done so.
    let isReload: Bool
    let readsDisk: Bool
    /// What a server says of the age of stored bytes is written to them.
    let writesDisk: Bool
    let freshness: CachePolicy.Freshness
    let allowsNetwork: Bool
    let expiration: StorageExpiration?
    let diskExtension: ExpirationExtension?
    let network: NetworkOptions
    let wantsPreviews: Bool
    let isRevalidation: Bool
    /// It reads what is stored, and writes what comes.
    let serializer: SerializerKey
    /// How often other fetches have brought something newer: nobody joins what began before.
    private(set) var era = 0

    init(_ resolved: ResolvedRequest) {
        let cache = resolved.cache
        source = ExactText(resolved.key.source)
        user = resolved.key.user
        originals = ObjectIdentifier(resolved.originals)
        isReload = cache.reads.isEmpty
        readsDisk = cache.reads.contains(.diskOriginal)
        writesDisk = cache.writes.contains(.diskOriginal)
        freshness = cache.freshness
        allowsNetwork = cache.allowsNetwork
        expiration = cache.diskExpiration
        diskExtension = cache.diskExtension
        network = resolved.request.network
        wantsPreviews = resolved.request.wantsPreviews
        isRevalidation = resolved.isRevalidation
        serializer = SerializerKey(resolved.serializer)
        era = resolved.originals.news.count(for: resolved.key, notBy: self)
    }

    func isLike(_ other: FetchKey) -> Bool {
        var other = other
        other.era = era
        return self == other
    }

    /// Of the source alone: few fetches of one source differ in the rest, and a key is hashed at each of their steps.
    func hash(into hasher: inout Hasher) {
        hasher.combine(source)
    }
}

/// Encodings that share their bytes, and the way to them.
struct EncodeKey: Hashable, Sendable {
    let load: LoadKey
    let encoding: ImageEncoding
}

/// Decodes that share their pixels: the same bytes (by identity, they are in memory), the same plan.
struct DecodeKey: Hashable, Sendable {
    let data: ObjectIdentifier
    let coders: ObjectIdentifier
    let plan: DecodePlan
}
