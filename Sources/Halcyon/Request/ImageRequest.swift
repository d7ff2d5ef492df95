import Foundation

/// One image as a program wants it: where it comes from and what is made of it.
///
/// A value: copy it, change it, compare it. What a request does not say, the pipeline's configuration does.
///
///     let request = ImageRequest(url, processors: [.resize(to: PixelSize(320, 240), mode: .fill)])
public struct ImageRequest: Sendable {
    public var source: ImageSource
    /// What stands in for a source that has no image, in order, each after the retries of the one before. None by default.
    ///
    /// They are loaded with the rest of this request, each under its own key in the caches; header fields that may hold a
    /// secret stay at the source's origin. Nothing is tried after a cancellation. `ImageResponse.source` tells which came.
    public var alternatives: [ImageSource] = [] { didSet { given.insert(.alternatives) } }
    /// What is loaded instead of the source while the downloader's `networkMonitor` says that the connection is to be
    /// spared, unless the caches have the source. Nil by default.
    public var lowDataAlternative: ImageSource?
    /// How the bytes are decoded: at which size, within which limits.
    public var decode: DecodeOptions { didSet { given.insert(.decode) } }
    /// Applied in order. A `.resize` that comes first becomes part of the decode.
    public var processors: [any ImageProcessor] { didSet { given.insert(.processors) } }
    /// Which caches are read and written.
    public var cache: CachePolicy { didSet { given.insert(.cache) } }
    /// What the caches call the source, instead of its URL; nil, the default, is the URL as the cache's `keyFilter` gives
    /// it. Equal keys must mean equal images.
    public var cacheKey: String?
    /// Which bytes the disk keeps of the image; nil, the default, is the cache's own serializer.
    public var serializer: (any CacheSerializer)?
    /// The cache for the finished image; nil, the default, is the pipeline's.
    public var targetCache: ImageCache?
    /// The cache for the source's bytes; nil, the default, is the pipeline's `originalCache`, else the one of the finished
    /// image.
    public var originalCache: ImageCache?
    /// Headers, time limits, retries; nil takes the pipeline's.
    public var network: NetworkOptions
    /// `.normal` by default; change a running load through `ImageTask.priority`.
    public var priority: RequestPriority { didSet { given.insert(.priority) } }
    /// Whether the load's events bring previews while bytes arrive, for the formats that can (JPEG, PNG, GIF,
    /// WebP). False by default.
    ///
    /// There is one each time that the bytes have doubled or 150 ms have passed, decoded at the request's size and
    /// processed as the image will be, as long as all of them together cost no more than one and a half decodes. The
    /// bytes are kept twice until the last has come.
    /// There are none where the `DecodeBudget` has no memory free for them.
    public var wantsPreviews = false { didSet { given.insert(.wantsPreviews) } }
    /// Whether there is a preview of every part that comes, such as each scan of a progressive JPEG, whatever that costs.
    /// Only where previews are wanted. False by default.
    public var wantsEveryPreview = false { didSet { given.insert(.wantsEveryPreview) } }

    /// Coders for this request alone; nil, the default, takes the pipeline's. Their results are never found by requests
    /// with other coders, nor kept on disk: only the source's bytes are.
    public var coders: CoderRegistry?
    /// The image's `scale`: pixels for one unit of a view. Nil, the default, is that of the source's name or key: 2 for
    /// `photo@2x.png`, 3 for `photo@3x.png`, else 1. Not part of any cache's key.
    public var scale: Double?

    /// What is done to the image, and to previews, when they are delivered. Nil, the default, is nothing. Not part of any
    /// cache's key.
    public var modifier: ImageModifier?

    /// What the pipeline's `defaults` leave alone.
    private(set) var given: GivenOptions = []

    /// - Parameters: what is nil is the pipeline's `defaults`, or where those say nothing: no processors, the usual
    ///   decode, `CachePolicy.default`, `.normal`.
    public init(
        _ source: ImageSource, processors: [any ImageProcessor]? = nil, decode: DecodeOptions? = nil,
        cache: CachePolicy? = nil,
        network: NetworkOptions = NetworkOptions(), priority: RequestPriority? = nil
    ) {
        self.source = source
        self.processors = processors ?? []
        self.decode = decode ?? DecodeOptions()
        self.cache = cache ?? .default
        self.network = network
        self.priority = priority ?? .normal
        if processors != nil { given.insert(.processors) }
        if decode != nil { given.insert(.decode) }
        if cache != nil { given.insert(.cache) }
        if priority != nil { given.insert(.priority) }
    }

    /// A request for a URL; `nil` gives a request that fails with `ImagePipelineError.invalidRequest`.
    public init(
        _ url: URL?, processors: [any ImageProcessor]? = nil, decode: DecodeOptions? = nil, cache: CachePolicy? = nil,
        network: NetworkOptions = NetworkOptions(), priority: RequestPriority? = nil
    ) {
        self.init(
            ImageSource(url), processors: processors, decode: decode, cache: cache, network: network,
            priority: priority)
    }
}
