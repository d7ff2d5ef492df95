import HalcyonImage
import HalcyonProcessing
import HalcyonSystem

/// A request with its key, which is computed once, on the thread of who asks: a file's needs a look at the file, and the
/// coordinator never waits for a disk.
///
/// Its parts lie behind one reference: every job, closure and response has a request, and a copy of a request's forty
/// references took most of the time of a memory hit.
struct ResolvedRequest: Sendable {
    private final class Parts: Sendable {
        let request: ImageRequest
        let key: ImageKey
        let sender: KeyedHash?
        let target: ImageCache
        let originals: ImageCache
        let isRevalidation: Bool
        let defaultScale: Double

        /// - Parameter request: what the pipeline's modifier made of it.
        init(_ request: ImageRequest, for coordinator: Coordinator) {
            var request = request
            let providers = coordinator.configuration.providers
            if !providers.isEmpty { request.source = request.source.provided(by: providers) }
            request.takeCredentialOfURL()
            self.request = request
            target = request.targetCache ?? coordinator.configuration.cache
            originals = request.originalCache ?? coordinator.configuration.originalCache ?? target
            sender = coordinator.user(of: request)
            key = request.key(filter: target.keyFilter, user: sender)
            isRevalidation = false
            defaultScale = request.source.namedScale
        }

        init(_ request: ImageRequest, isRevalidation: Bool, as former: Parts) {
            self.request = request
            self.isRevalidation = isRevalidation
            (key, target, originals) = (former.key, former.target, former.originals)
            sender = former.sender
            defaultScale = former.defaultScale
        }
    }

    private let parts: Parts

    var request: ImageRequest { parts.request }
    var key: ImageKey { parts.key }
    /// For whom it was when its key was made.
    var sender: KeyedHash? { parts.sender }
    /// Where the finished image is kept.
    var target: ImageCache { parts.target }
    /// Where the source's bytes are kept.
    var originals: ImageCache { parts.originals }
    /// Whether it asks the server behind an answer that was given already: then what is stale must be revalidated.
    var isRevalidation: Bool { parts.isRevalidation }

    init(_ request: ImageRequest, for coordinator: Coordinator) {
        if coordinator.configuration.defaults.isEmpty, coordinator.configuration.modifier == nil {
            parts = Parts(request, for: coordinator)
        } else {
            let filled = coordinator.configuration.defaults.applied(to: request)
            parts = Parts(coordinator.configuration.requestModifier(filled), for: coordinator)
        }
    }

    private init(_ parts: Parts) {
        self.parts = parts
    }

    /// The same request for another source. It may look at a file, so not on the coordinator's thread.
    func replacing(_ source: ImageSource, for coordinator: Coordinator) -> ResolvedRequest {
        var other = request
        other.source = source
        // It is the source's name, not this one's.
        other.cacheKey = nil
        if !source.isSameOrigin(as: request.source) {
            other.network.headers.removeSecrets(
                coordinator.configuration.downloader.configuration.credentialFields)
            other.network.credential = nil
        }
        return ResolvedRequest(Parts(other, for: coordinator))
    }

    /// The same with another way of loading it: the key stays as it is.
    func changing(asRevalidation: Bool = false, _ change: (inout ImageRequest) -> Void) -> ResolvedRequest {
        var other = request
        change(&other)
        return ResolvedRequest(Parts(other, isRevalidation: isRevalidation || asRevalidation, as: parts))
    }

    var source: ImageSource { request.source }
    var cache: CachePolicy { request.cache }
    var serializer: any CacheSerializer { request.serializer ?? target.serializer }

    /// How the source's bytes become the image. Where the image before any processor is kept, a resize is a processor.
    var steps: (decode: DecodeOptions, processors: [any ImageProcessor]) {
        let keepsOriginal = !cache.reads.union(cache.writes).isDisjoint(with: .memoryOriginal)
        return keepsOriginal ? (key.decode, key.processors) : key.steps
    }

    /// Whether the disk keeps anything of it: what is local already is not copied.
    var isRemote: Bool {
        if case .remote = request.source { true } else { false }
    }

    /// An image as this request gives it: the cached one may be another request's, with another scale.
    func delivered(_ image: Image) -> Image {
        var image = image
        image.scale = request.scale ?? parts.defaultScale
        // Some caches keep only pixels, so what an image says of its showing is the modifier's alone.
        (image.isTemplate, image.mirrorsForRightToLeft) = (false, false)
        return request.modifier.map { $0(image) } ?? image
    }

    /// The same for what comes before it.
    func delivered(_ preview: ImagePreview) -> ImagePreview {
        ImagePreview(delivered(preview.image), isStale: preview.isStale)
    }

    /// Its answer goes to the caches: what others make of earlier ones is older.
    func tellOthers(of answer: FetchedData) {
        let (place, fetch) = (key.place(of: answer.http), FetchKey(self))
        for cache in originals === target ? [target] : [target, originals] {
            cache.news.add(self.cache.writes, for: key, by: fetch, asked: answer.mark)
            if place.user != key.user { cache.news.add(self.cache.writes, for: place, by: fetch, asked: answer.mark) }
        }
    }

    /// Whether the disk keeps the finished image apart from its source.
    var hasPlaceOfItsOwn: Bool { key.isProcessed && key.isStorable }
}

extension ImageRequest {
    /// Nobody is there to see an image of it, nor what comes before.
    mutating func showsNothing() {
        (wantsPreviews, wantsEveryPreview, cache.showsStale) = (false, false, false)
        modifier = nil
    }
}
