import HalcyonImage
import HalcyonProcessing

/// A request with its key, which is computed once, on the thread of who asks: a file's needs a look at the file, and the
/// coordinator never waits for a disk.
struct ResolvedRequest: Sendable {
    var request: ImageRequest
    let key: ImageKey
    /// Where the finished image is kept.
    let target: ImageCache
    /// Where the source's bytes are kept.
    let originals: ImageCache
    /// Whether it asks the server behind an answer that was given already: then what is stale must be revalidated.
    var isRevalidation = false
    private let defaultScale: Double

    init(_ request: ImageRequest, _ configuration: ImagePipeline.Configuration) {
        let defaults = configuration.defaults
        let filled = defaults.isEmpty ? request : defaults.applied(to: request)
        self.init(modified: configuration.requestModifier(filled), configuration)
    }

    /// - Parameter request: what the pipeline's modifier made of it.
    private init(modified request: ImageRequest, _ configuration: ImagePipeline.Configuration) {
        self.request = request
        target = request.targetCache ?? configuration.cache
        originals = request.originalCache ?? configuration.originalCache ?? target
        key = target.key(for: request)
        defaultScale = request.source.namedScale
    }

    /// The same request for another source. It may look at a file, so not on the coordinator's thread.
    func replacing(_ source: ImageSource, _ configuration: ImagePipeline.Configuration) -> ResolvedRequest {
        var other = request
        other.source = source
        // It is the source's name, not this one's.
        other.cacheKey = nil
        if !source.isSameOrigin(as: request.source) {
            other.network.headers.removeSecrets()
            other.network.credential = nil
        }
        return ResolvedRequest(modified: other, configuration)
    }

    var source: ImageSource { request.source }
    var cache: CachePolicy { request.cache }
    var serializer: any CacheSerializer { request.serializer ?? target.serializer }

    /// How the source's bytes become the image. Where the image before any processor is kept, a resize is a processor.
    var steps: (decode: DecodeOptions, processors: [any ImageProcessor]) {
        let keepsOriginal = !cache.reads.union(cache.writes).isDisjoint(with: .memoryOriginal)
        return keepsOriginal ? (request.decode, request.processors) : key.steps
    }

    /// Whether the disk keeps anything of it: what is local already is not copied.
    var isRemote: Bool {
        if case .remote = request.source { true } else { false }
    }

    /// An image as this request gives it: the cached one may be another request's, with another scale.
    func scaled(_ image: Image) -> Image {
        var image = image
        image.scale = request.scale ?? defaultScale
        return image
    }

    /// The same for what comes before it.
    func scaled(_ preview: ImagePreview) -> ImagePreview {
        ImagePreview(preview, scale: request.scale ?? defaultScale)
    }

    /// Nobody is there to see them.
    mutating func showsNothingMeanwhile() {
        (request.wantsPreviews, request.wantsEveryPreview, request.cache.showsStale) = (false, false, false)
    }

    /// Whether the disk keeps the finished image apart from its source.
    var hasPlaceOfItsOwn: Bool { key.isProcessed && key.isStorable }
}
