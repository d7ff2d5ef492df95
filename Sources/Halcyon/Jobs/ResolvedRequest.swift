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
        init(_ request: ImageRequest, for configuration: ImagePipeline.Configuration) {
            var request = request
            let providers = configuration.providers
            if !providers.isEmpty { request.source = request.source.provided(by: providers) }
            request.takeCredentialOfURL()
            self.request = request
            target = request.targetCache ?? configuration.cache
            originals = request.originalCache ?? configuration.originalCache ?? target
            sender = configuration.user(of: request)
            key = request.key(filter: target.keyFilter, user: sender)
            isRevalidation = false
            defaultScale = request.source.namedScale
        }

        init(_ request: ImageRequest, key: ImageKey? = nil, isRevalidation: Bool, as former: Parts) {
            self.request = request
            self.isRevalidation = isRevalidation
            (self.key, target, originals) = (key ?? former.key, former.target, former.originals)
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

    init(_ request: ImageRequest, for configuration: ImagePipeline.Configuration) {
        if configuration.defaults.isEmpty, configuration.modifier == nil {
            parts = Parts(request, for: configuration)
        } else {
            let filled = configuration.defaults.applied(to: request)
            parts = Parts(configuration.requestModifier(filled), for: configuration)
        }
    }

    private init(_ parts: Parts) {
        self.parts = parts
    }

    /// The same request for another source. It may look at a file, so not on the coordinator's thread.
    func replacing(_ source: ImageSource, for configuration: ImagePipeline.Configuration) -> ResolvedRequest {
        var other = request
        other.source = source
        // It is the source's name, not this one's.
        other.cacheKey = nil
        if !source.isSameOrigin(as: request.source) {
            other.network.headers.removeSecrets(configuration.downloader.configuration.credentialFields)
            other.network.credential = nil
        }
        return ResolvedRequest(Parts(other, for: configuration))
    }

    /// The same with another way of loading it: the key stays as it is.
    func changing(asRevalidation: Bool = false, _ change: (inout ImageRequest) -> Void) -> ResolvedRequest {
        var other = request
        change(&other)
        return ResolvedRequest(Parts(other, isRevalidation: isRevalidation || asRevalidation, as: parts))
    }

    /// The same image at another size. The key takes the source's name from this one: a file is not looked at again.
    func resized(to target: TargetSize?) -> ResolvedRequest {
        let other = request.resized(to: target)
        let resized = ImageKey(
            source: key.source, decode: other.decode, processors: key.processors, coders: key.coders, user: key.user)
        return ResolvedRequest(Parts(other, key: resized, isRevalidation: isRevalidation, as: parts))
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

extension ImagePipeline.Configuration {
    /// The user that a request is for, with what the downloader adds to it.
    fileprivate func user(of request: ImageRequest) -> KeyedHash? {
        guard case .remote(let url) = request.source else { return nil }
        return downloader.user(
            of: url, headers: request.network.headers, credential: request.network.credential,
            named: request.network.user)
    }
}

extension ImageRequest {
    /// Nobody is there to see an image of it, nor what comes before.
    mutating func showsNothing() {
        (wantsPreviews, wantsEveryPreview, cache.showsStale) = (false, false, false)
        modifier = nil
    }
}
