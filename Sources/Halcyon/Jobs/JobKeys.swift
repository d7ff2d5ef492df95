import HalcyonCodecs

/// Loads that share everything: the image, and the way to it.
struct LoadKey: Hashable, Sendable {
    let image: ImageKey
    let fetch: FetchKey

    init(_ request: ImageRequest, image: ImageKey) {
        self.image = image
        fetch = FetchKey(request)
    }
}

/// Fetches that share the source's bytes, whatever is made of them.
struct FetchKey: Hashable, Sendable {
    let source: String
    let cache: CachePolicy
    let network: NetworkOptions
    let wantsPreviews: Bool

    init(_ request: ImageRequest) {
        source = request.source.key
        cache = request.cache
        network = request.network
        wantsPreviews = request.wantsPreviews
    }
}

/// Decodes that share their pixels: the same bytes (by identity, they are in memory), the same plan.
struct DecodeKey: Hashable, Sendable {
    let data: ObjectIdentifier
    let plan: DecodePlan
}

/// Steps that share their result, and the way to it.
struct StepKey: Hashable, Sendable {
    let image: ImageKey
    let fetch: FetchKey
}
