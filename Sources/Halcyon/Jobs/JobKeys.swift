import HalcyonCodecs

/// Loads and steps that share everything: the image, and the way to it.
struct LoadKey: Hashable, Sendable {
    let image: ImageKey
    let fetch: FetchKey

    init(_ resolved: ResolvedRequest, image: ImageKey) {
        self.image = image
        fetch = FetchKey(resolved)
    }
}

/// Fetches that share the source's bytes, whatever is made of them.
struct FetchKey: Hashable, Sendable {
    let source: String
    let cache: CachePolicy
    let network: NetworkOptions
    let wantsPreviews: Bool

    init(_ resolved: ResolvedRequest) {
        source = resolved.key.source
        cache = resolved.request.cache
        network = resolved.request.network
        wantsPreviews = resolved.request.wantsPreviews
    }
}

/// Decodes that share their pixels: the same bytes (by identity, they are in memory), the same plan.
struct DecodeKey: Hashable, Sendable {
    let data: ObjectIdentifier
    let coders: ObjectIdentifier
    let plan: DecodePlan
}
