import Foundation
import HalcyonCodecs
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem
import Synchronization

/// A request for an image: the source it is loaded from, and how it is decoded, processed and cached.
///
/// It is a value that can be copied and changed. The pipeline's configuration supplies the options that a request does
/// not set.
///
///     let request = ImageRequest(url, processors: [.resize(to: PixelSize(320, 240), mode: .fill)])
///
/// Two requests are equal if a pipeline loads them in the same way: their options are equal, the same options were given,
/// and their caches and coders are the same objects.
///
/// A copy costs one reference. What the options decide alone, such as the key in the caches, is computed once for all copies.
public struct ImageRequest: Equatable, Sendable {
    private var storage: Storage

    /// The source that the image is loaded from.
    public var source: ImageSource {
        get { storage.values.source }
        set { values.source = newValue }
    }
    /// The sources that stand in, in this order, for a source that has no image, each after the retries of the one
    /// before. None by default.
    ///
    /// They are loaded with the other options of this request, each under its own key in the caches; header fields that
    /// may hold a secret are not sent to another origin than the source's. Nothing is tried after a cancellation.
    /// `ImageResponse.source` tells which source the image came from.
    public var alternatives: [ImageSource] {
        get { storage.values.alternatives }
        set { values.alternatives = newValue }
    }
    /// The source that is loaded instead of `source` while the downloader's `networkMonitor` reports a constrained
    /// connection, unless the caches have `source`. Nil by default.
    public var lowDataAlternative: ImageSource? {
        get { storage.values.lowDataAlternative }
        set { values.lowDataAlternative = newValue }
    }
    /// The options of the decode, such as the size and the limits.
    public var decode: DecodeOptions {
        get { storage.values.decode }
        set { values.decode = newValue }
    }
    /// The processors, applied in order. A `.resize` that comes first becomes part of the decode.
    public var processors: [any ImageProcessor] {
        get { storage.values.processors }
        set { values.processors = newValue }
    }
    /// The policy that says which caches are read and written.
    public var cachePolicy: CachePolicy {
        get { storage.values.cachePolicy }
        set { values.cachePolicy = newValue }
    }
    /// The key of the source in the caches; nil, the default, is the URL after the cache's `keyFilter`. Equal keys must
    /// mean equal images.
    public var cacheKey: String? {
        get { storage.values.cacheKey }
        set { values.cacheKey = newValue }
    }
    /// The serializer that makes the bytes that the disk keeps; nil, the default, is the cache's own.
    public var serializer: (any CacheSerializer)? {
        get { storage.values.serializer }
        set { values.serializer = newValue }
    }
    /// The cache for the finished image; nil, the default, is the pipeline's.
    public var targetCache: ImageCache? {
        get { storage.values.targetCache }
        set { values.targetCache = newValue }
    }
    /// The cache for the source's bytes; nil, the default, is the pipeline's `originalCache`, else the one of the finished
    /// image.
    public var originalCache: ImageCache? {
        get { storage.values.originalCache }
        set { values.originalCache = newValue }
    }
    /// The network options, such as headers, timeouts and retries; a nil option takes the pipeline's.
    public var network: NetworkOptions {
        get { storage.values.network }
        set { values.network = newValue }
    }
    /// The priority of the load, `.normal` by default. Change that of a running load through `ImageTask.priority`.
    public var priority: RequestPriority {
        get { storage.values.priority }
        set { values.priority = newValue }
    }
    /// Whether the load's events include previews while bytes arrive, for the formats that support it (JPEG, PNG, GIF,
    /// WebP). False by default.
    ///
    /// A preview is made each time that the number of bytes has doubled or an interval has passed, 150 ms unless
    /// `ImagePipeline.Configuration.previews` has another one. It is decoded at the request's size and processed as the
    /// image will be, as long as all previews together cost no more than one and a half decodes. The bytes are held
    /// twice until the last has arrived. There are no previews if the `DecodeBudget` has no memory free for them.
    public var wantsPreviews: Bool {
        get { storage.values.wantsPreviews }
        set { values.wantsPreviews = newValue }
    }
    /// Whether there is a preview of every part that arrives, such as each scan of a progressive JPEG, whatever the
    /// cost. It has an effect only if `wantsPreviews` is true. False by default.
    public var wantsEveryPreview: Bool {
        get { storage.values.wantsEveryPreview }
        set { values.wantsEveryPreview = newValue }
    }

    /// The coders for this request alone; nil, the default, takes the pipeline's. Requests with other coders never find
    /// their results, and the disk does not keep these: it keeps only the source's bytes.
    public var coders: CoderRegistry? {
        get { storage.values.coders }
        set { values.coders = newValue }
    }
    /// The image's `scale`, the number of pixels for one unit of a view. Nil, the default, takes it from the source's
    /// name or key: 2 for `photo@2x.png`, 3 for `photo@3x.png`, otherwise 1. It is not part of any cache key.
    public var scale: Double? {
        get { storage.values.scale }
        set { values.scale = newValue }
    }

    /// How far the body advances between two progress events of the load; nil, the default, reports each chunk.
    /// `ImageTask.status` has the latest progress in any case. It is not part of any cache key, and loads with other steps
    /// share their work.
    public var progressStep: ProgressStep? {
        get { storage.values.progressStep }
        set { values.progressStep = newValue }
    }

    /// The change that is made to the image, and to previews, at their delivery. Nil, the default, makes none. It is
    /// not part of any cache key.
    public var modifier: ImageModifier? {
        get { storage.values.modifier }
        set { values.modifier = newValue }
    }

    /// The options that were given explicitly, which the pipeline's `defaults` do not change.
    var given: GivenOptions { storage.values.given }

    /// Whether header fields or a credential may identify a user.
    var hasFields: Bool {
        !storage.values.network.headers.isEmpty || storage.values.network.credential != nil
            || storage.values.network.user != nil
    }

    /// Creates a request for a source.
    ///
    /// A nil argument takes the pipeline's `defaults`, and if those are nil too: no processors, the default
    /// `DecodeOptions`, `CachePolicy.default`, `.normal`.
    public init(
        _ source: ImageSource, processors: [any ImageProcessor]? = nil, decode: DecodeOptions? = nil,
        cachePolicy: CachePolicy? = nil,
        network: NetworkOptions = NetworkOptions(), priority: RequestPriority? = nil
    ) {
        var given: GivenOptions = []
        if processors != nil { given.insert(.processors) }
        if decode != nil { given.insert(.decode) }
        if cachePolicy != nil { given.insert(.cachePolicy) }
        if priority != nil { given.insert(.priority) }
        storage = Storage(
            Values(
                source: source, decode: decode ?? DecodeOptions(), processors: processors ?? [],
                cachePolicy: cachePolicy ?? .default, network: network, priority: priority ?? .normal, given: given))
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

// MARK: - Storage

extension ImageRequest {
    /// The properties, which are described where they are public. Defaults are not given, assigned values are.
    fileprivate struct Values {
        var source: ImageSource
        var alternatives: [ImageSource] = [] { didSet { given.insert(.alternatives) } }
        var lowDataAlternative: ImageSource?
        var decode: DecodeOptions { didSet { given.insert(.decode) } }
        var processors: [any ImageProcessor] { didSet { given.insert(.processors) } }
        var cachePolicy: CachePolicy { didSet { given.insert(.cachePolicy) } }
        var cacheKey: String?
        var serializer: (any CacheSerializer)?
        var targetCache: ImageCache?
        var originalCache: ImageCache?
        var network: NetworkOptions
        var priority: RequestPriority { didSet { given.insert(.priority) } }
        var wantsPreviews = false { didSet { given.insert(.wantsPreviews) } }
        var wantsEveryPreview = false { didSet { given.insert(.wantsEveryPreview) } }
        var coders: CoderRegistry?
        var scale: Double?
        var progressStep: ProgressStep?
        var modifier: ImageModifier?
        var given: GivenOptions = []
    }

    /// The memory of the copies of one request.
    ///
    /// `@unchecked Sendable` because `values` is only changed while one request has the storage.
    private final class Storage: @unchecked Sendable {
        var values: Values
        /// Not an `AtomicLazyReference`, whose functions look up the metadata of their types at each call.
        private let known = Atomic<Unmanaged<RequestIdentity>?>(nil)

        init(_ values: consuming Values) {
            self.values = values
        }

        deinit {
            known.load(ordering: .acquiring)?.release()
        }

        /// The identity that was set; nil before.
        var identity: RequestIdentity? { known.load(ordering: .acquiring)?.takeUnretainedValue() }

        /// Sets the identity unless another thread has set its own, and returns the one that is set.
        func setIdentity(_ identity: RequestIdentity) -> RequestIdentity {
            let new = Unmanaged.passRetained(identity)
            let result = known.compareExchange(expected: nil, desired: new, ordering: .acquiringAndReleasing)
            guard !result.exchanged, let other = result.original else { return identity }
            new.release()
            return other.takeUnretainedValue()
        }
    }

    private var values: Values {
        get { storage.values }
        _modify {
            if !isKnownUniquelyReferenced(&storage) || storage.identity != nil {
                storage = Storage(storage.values)
            }
            yield &storage.values
        }
    }

    /// The facts that follow from the options alone; nil if they may be others the next time.
    var identity: RequestIdentity? {
        if let identity = storage.identity { return identity }
        guard let identity = RequestIdentity(self) else { return nil }
        return storage.setIdentity(identity)
    }
}

extension ImageRequest {
    public static func == (left: ImageRequest, right: ImageRequest) -> Bool {
        left.storage === right.storage || left.storage.values == right.storage.values
    }
}

extension ImageRequest: CustomReflectable {
    /// The properties by their names, as `dump` and debuggers show them.
    public var customMirror: Mirror { Mirror(self, children: Mirror(reflecting: storage.values).children) }
}

extension ImageRequest.Values: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        left.source == right.source && left.alternatives == right.alternatives
            && left.lowDataAlternative == right.lowDataAlternative && left.decode == right.decode
            && left.processors.isEqual(to: right.processors)
            && left.cachePolicy == right.cachePolicy && left.cacheKey == right.cacheKey
            && left.serializer.map(SerializerKey.init) == right.serializer.map(SerializerKey.init)
            && left.targetCache === right.targetCache && left.originalCache === right.originalCache
            && left.network == right.network && left.priority == right.priority
            && left.wantsPreviews == right.wantsPreviews && left.wantsEveryPreview == right.wantsEveryPreview
            && left.coders === right.coders && left.scale == right.scale
            && left.progressStep == right.progressStep && left.modifier == right.modifier && left.given == right.given
    }
}
