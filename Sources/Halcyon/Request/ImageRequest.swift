import Foundation

/// A request for an image: the source it is loaded from, and how it is decoded, processed and cached.
///
/// It is a value that can be copied and changed. The pipeline's configuration supplies the options that a request does
/// not set.
///
///     let request = ImageRequest(url, processors: [.resize(to: PixelSize(320, 240), mode: .fill)])
///
/// Two requests are equal if a pipeline loads them in the same way: their options are equal, the same options were given,
/// and their caches and coders are the same objects.
public struct ImageRequest: Equatable, Sendable {
    /// The place that the image is loaded from.
    public var source: ImageSource
    /// The sources that stand in, in this order, for a source that has no image, each after the retries of the one
    /// before. None by default.
    ///
    /// They are loaded with the other options of this request, each under its own key in the caches; header fields that
    /// may hold a secret are not sent to another origin than the source's. Nothing is tried after a cancellation.
    /// `ImageResponse.source` tells which source the image came from.
    public var alternatives: [ImageSource] = [] { didSet { given.insert(.alternatives) } }
    /// The source that is loaded instead of `source` while the downloader's `networkMonitor` reports a constrained
    /// connection, unless the caches have `source`. Nil by default.
    public var lowDataAlternative: ImageSource?
    /// The options of the decode, such as the size and the limits.
    public var decode: DecodeOptions { didSet { given.insert(.decode) } }
    /// The processors, applied in order. A `.resize` that comes first becomes part of the decode.
    public var processors: [any ImageProcessor] { didSet { given.insert(.processors) } }
    /// The policy that says which caches are read and written.
    public var cachePolicy: CachePolicy { didSet { given.insert(.cachePolicy) } }
    /// The key of the source in the caches; nil, the default, is the URL after the cache's `keyFilter`. Equal keys must
    /// mean equal images.
    public var cacheKey: String?
    /// The serializer that makes the bytes that the disk keeps; nil, the default, is the cache's own.
    public var serializer: (any CacheSerializer)?
    /// The cache for the finished image; nil, the default, is the pipeline's.
    public var targetCache: ImageCache?
    /// The cache for the source's bytes; nil, the default, is the pipeline's `originalCache`, else the one of the finished
    /// image.
    public var originalCache: ImageCache?
    /// The network options, such as headers, timeouts and retries; a nil option takes the pipeline's.
    public var network: NetworkOptions
    /// The priority of the load, `.normal` by default. Change that of a running load through `ImageTask.priority`.
    public var priority: RequestPriority { didSet { given.insert(.priority) } }
    /// Whether the load's events include previews while bytes arrive, for the formats that support it (JPEG, PNG, GIF,
    /// WebP). False by default.
    ///
    /// A preview is made each time that the number of bytes has doubled or 150 ms have passed. It is decoded at the
    /// request's size and processed as the image will be, as long as all previews together cost no more than one and a
    /// half decodes. The bytes are held twice until the last has arrived. There are no previews if the `DecodeBudget`
    /// has no memory free for them.
    public var wantsPreviews = false { didSet { given.insert(.wantsPreviews) } }
    /// Whether there is a preview of every part that arrives, such as each scan of a progressive JPEG, whatever the
    /// cost. It has an effect only if `wantsPreviews` is true. False by default.
    public var wantsEveryPreview = false { didSet { given.insert(.wantsEveryPreview) } }

    /// The coders for this request alone; nil, the default, takes the pipeline's. Requests with other coders never find
    /// their results, and the disk does not keep these: it keeps only the source's bytes.
    public var coders: CoderRegistry?
    /// The image's `scale`, the number of pixels for one unit of a view. Nil, the default, takes it from the source's
    /// name or key: 2 for `photo@2x.png`, 3 for `photo@3x.png`, otherwise 1. It is not part of any cache key.
    public var scale: Double?

    /// The change that is made to the image, and to previews, at their delivery. Nil, the default, makes none. It is
    /// not part of any cache key.
    public var modifier: ImageModifier?

    /// The options that were given explicitly, which the pipeline's `defaults` do not change.
    private(set) var given: GivenOptions = []

    /// Creates a request for a source.
    ///
    /// A nil argument takes the pipeline's `defaults`, and if those are nil too: no processors, the default
    /// `DecodeOptions`, `CachePolicy.default`, `.normal`.
    public init(
        _ source: ImageSource, processors: [any ImageProcessor]? = nil, decode: DecodeOptions? = nil,
        cachePolicy: CachePolicy? = nil,
        network: NetworkOptions = NetworkOptions(), priority: RequestPriority? = nil
    ) {
        self.source = source
        self.processors = processors ?? []
        self.decode = decode ?? DecodeOptions()
        self.cachePolicy = cachePolicy ?? .default
        self.network = network
        self.priority = priority ?? .normal
        if processors != nil { given.insert(.processors) }
        if decode != nil { given.insert(.decode) }
        if cachePolicy != nil { given.insert(.cachePolicy) }
        if priority != nil { given.insert(.priority) }
    }

    /// Creates a request for a URL; a nil URL gives a request that fails with `ImagePipelineError.invalidRequest`.
    public init(
        _ url: URL?, processors: [any ImageProcessor]? = nil, decode: DecodeOptions? = nil,
        cachePolicy: CachePolicy? = nil,
        network: NetworkOptions = NetworkOptions(), priority: RequestPriority? = nil
    ) {
        self.init(
            ImageSource(url), processors: processors, decode: decode, cachePolicy: cachePolicy, network: network,
            priority: priority)
    }
}

extension ImageRequest {
    public static func == (left: ImageRequest, right: ImageRequest) -> Bool {
        left.source == right.source && left.alternatives == right.alternatives
            && left.lowDataAlternative == right.lowDataAlternative && left.decode == right.decode
            && left.processors.isEqual(to: right.processors)
            && left.cachePolicy == right.cachePolicy && left.cacheKey == right.cacheKey
            && left.serializer.map(SerializerKey.init) == right.serializer.map(SerializerKey.init)
            && left.targetCache === right.targetCache && left.originalCache === right.originalCache
            && left.network == right.network && left.priority == right.priority
            && left.wantsPreviews == right.wantsPreviews && left.wantsEveryPreview == right.wantsEveryPreview
            && left.coders === right.coders && left.scale == right.scale && left.modifier == right.modifier
            && left.given == right.given
    }
}
