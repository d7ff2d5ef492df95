import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// A request with its key, which is computed once, on the caller's thread: the key of a file depends on the file's
/// attributes, and the coordinator never waits for a disk.
///
/// The parts are stored behind one reference: every job, closure and response has a request, and copying a request's
/// forty references took most of the time of a memory hit.
struct ResolvedRequest: Sendable {
    private final class Parts: Sendable {
        let request: ImageRequest
        let key: ImageKey
        let sender: KeyedHash?
        let target: ImageCache
        let originals: ImageCache
        let isRevalidation: Bool
        let defaultScale: Double
        let coordinator: Coordinator

        /// Resolves a request for a pipeline.
        ///
        /// - Parameter request: the request after the pipeline's modifier.
        init(_ request: ImageRequest, for coordinator: Coordinator) {
            var request = request
            let providers = coordinator.configuration.providers
            if !providers.isEmpty { request.source = request.source.provided(by: providers) }
            request.takeCredentialOfURL()
            let isolation = coordinator.configuration.isolation
            if !isolation.isInProcess, request.decode.isolation == nil { request.decode.isolation = isolation }
            self.request = request
            self.coordinator = coordinator
            target = request.targetCache ?? coordinator.configuration.cache
            originals = request.originalCache ?? coordinator.configuration.originalCache ?? target
            sender = coordinator.configuration.user(of: request)
            key = request.key(filter: target.keyFilter, user: sender)
            isRevalidation = false
            defaultScale = request.identity?.namedScale ?? request.source.namedScale
        }

        init(_ request: ImageRequest, key: ImageKey? = nil, isRevalidation: Bool, as former: Parts) {
            self.request = request
            self.isRevalidation = isRevalidation
            (self.key, target, originals) = (key ?? former.key, former.target, former.originals)
            coordinator = former.coordinator
            sender = former.sender
            defaultScale = former.defaultScale
        }
    }

    private let parts: Parts

    var request: ImageRequest { parts.request }
    var key: ImageKey { parts.key }
    /// The user that the request was for when its key was made.
    var sender: KeyedHash? { parts.sender }
    /// The cache that keeps the finished image.
    var target: ImageCache { parts.target }
    /// The cache that keeps the source's bytes.
    var originals: ImageCache { parts.originals }
    /// The registry of the request's pipeline.
    var coordinator: Coordinator { parts.coordinator }
    /// Whether the request revalidates an answer that was already delivered: then a stale entry must be revalidated.
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

    /// Returns the same request for another source. It may read a file's attributes, so it must not run on the
    /// coordinator's thread.
    func replacing(_ source: ImageSource) -> ResolvedRequest {
        var other = request
        other.source = source
        // The key names the former source, not this one.
        other.cacheKey = nil
        if !source.isSameOrigin(as: request.source) {
            other.network.headers.removeSecrets(
                coordinator.configuration.downloader.configuration.credentialFields)
            other.network.credential = nil
        }
        return ResolvedRequest(Parts(other, for: coordinator))
    }

    /// Returns the request that an interceptor has made of this one, with a key of its own. It may read a file's attributes, so
    /// it must not run on the coordinator's thread.
    func changed(to request: ImageRequest) -> ResolvedRequest {
        ResolvedRequest(Parts(request, for: coordinator))
    }

    /// Returns the request with other options for loading it. The key stays the same.
    func changing(asRevalidation: Bool = false, _ change: (inout ImageRequest) -> Void) -> ResolvedRequest {
        var other = request
        change(&other)
        return ResolvedRequest(Parts(other, isRevalidation: isRevalidation || asRevalidation, as: parts))
    }

    /// Returns the request for the same image at another size. The new key takes the source's part from this one, so a
    /// file's attributes are not read again.
    func resized(to target: TargetSize?) -> ResolvedRequest {
        let other = request.resized(to: target)
        let resized = ImageKey(
            source: key.source, decode: other.decode, processors: key.processors, coders: key.coders, user: key.user)
        return ResolvedRequest(Parts(other, key: resized, isRevalidation: isRevalidation, as: parts))
    }

    /// Returns the request for the same image with its gain map.
    func decodingGainMap() -> ResolvedRequest {
        var other = request
        other.decode.decodesGainMap = true
        return ResolvedRequest(Parts(other, key: key.withGainMap(true), isRevalidation: isRevalidation, as: parts))
    }

    /// The request for the source as it is, whatever size and processors were asked for.
    var ofSource: ResolvedRequest {
        var other = request
        other.processors = []
        other.decode = DecodeOptions(limits: request.decode.limits, isolation: request.decode.isolation)
        let whole = ImageKey(
            source: key.source, decode: other.decode, processors: [], coders: key.coders, user: key.user)
        return ResolvedRequest(Parts(other, key: whole, isRevalidation: isRevalidation, as: parts))
    }

    var source: ImageSource { request.source }
    var cachePolicy: CachePolicy { request.cachePolicy }
    var serializer: any CacheSerializer { request.serializer ?? target.serializer }

    /// The decode and the processors that make the image from the source's bytes. If the image before any processor is
    /// kept, a resize is a processor.
    var steps: (decode: DecodeOptions, processors: [any ImageProcessor]) {
        let keepsOriginal = !cachePolicy.reads.union(cachePolicy.writes).isDisjoint(with: .memoryOriginal)
        var steps = keepsOriginal ? (decode: key.decode, processors: key.processors) : key.steps
        steps.decode.allowsIncomplete = request.decode.allowsIncomplete
        return steps
    }

    /// Whether the disk may have anything of the source at a level, if the policy says so. It may not for a file under the
    /// request's own key, which stays the same when the file changes.
    func mayUse(_ level: CacheLevels) -> Bool {
        if case .file = source, request.cacheKey != nil { return false }
        return source.diskLevels.contains(level)
    }

    /// Whether the source is remote, so that HTTP's rules apply.
    var isRemote: Bool {
        if case .remote = request.source { true } else { false }
    }

    /// Reports the server's answer to the caches: everything that other loads make from earlier answers is older.
    func tellOthers(of answer: FetchedData) {
        let (stored, fetch) = (key.storageKey(for: answer.provenance.http), FetchKey(self))
        for cache in originals === target ? [target] : [target, originals] {
            cache.changes.add(cachePolicy.writes, for: key, by: fetch, asked: answer.mark)
            if stored.user != key.user {
                cache.changes.add(cachePolicy.writes, for: stored, by: fetch, asked: answer.mark)
            }
        }
    }

    /// Whether the disk keeps the finished image apart from its source.
    var hasEntryOfItsOwn: Bool { key.isProcessed && key.isStorable }
}

// MARK: - The server's view

extension ResolvedRequest {
    /// The header fields that a server sees, to which `Vary` refers.
    var sentHeaders: HTTPHeaders {
        coordinator.configuration.downloader.defaultHeaders.merging(request.network.headers)
            .showing(request.network.credential)
    }

    /// The cache directives of the request's header fields.
    var control: RequestCacheControl {
        let downloader = coordinator.configuration.downloader
        return downloader.sendsCacheDirectives(with: request.network.headers) ? RequestCacheControl(sentHeaders) : .none
    }

    /// Whether the server may be asked after an answer was delivered: not if its own answer would be discarded, nor by
    /// a load that is such a revalidation.
    var mayRevalidateInBackground: Bool {
        isRemote && !isRevalidation && cachePolicy.allowsNetwork && !control.onlyIfCached
            && !cachePolicy.writes.isDisjoint(with: [.memory, .diskOriginal])
    }

    /// Whether stale images are shown while the server is asked.
    var mayShowStale: Bool {
        cachePolicy.showsStale && isRemote && cachePolicy.allowsNetwork && !control.onlyIfCached
    }

    var coders: CoderRegistry { request.coders ?? coordinator.configuration.coders }
}

extension ImagePipeline.Configuration {
    /// Returns the user that a request is for, with the header fields that the downloader adds to it.
    func user(of request: ImageRequest) -> KeyedHash? {
        if downloader.isAnonymous, request.identity?.key != nil { return nil }
        guard case .remote(let url) = request.source else { return nil }
        return downloader.user(
            of: url, headers: request.network.headers, credential: request.network.credential,
            named: request.network.user)
    }
}

// MARK: - Delivery

extension ResolvedRequest {
    /// Returns the image as this request delivers it: a cached one may come from another request, with another scale.
    func delivered(_ image: Image) -> Image {
        var image = image
        image.scale = request.scale ?? parts.defaultScale
        // Some caches keep only pixels, so the flags for showing an image are set by the modifier alone.
        (image.isTemplate, image.mirrorsForRightToLeft) = (false, false)
        return request.modifier.map { $0(image) } ?? image
    }

    /// Returns the preview as this request delivers it.
    func delivered(_ preview: ImagePreview) -> ImagePreview {
        ImagePreview(delivered(preview.image), isStale: preview.isStale)
    }

    /// Returns the response to this request.
    ///
    /// - Parameter fetched: the bytes that the image was made from, if no cache had it.
    func response(
        _ image: Image, origin: ImageOrigin, rule: CacheRule?, _ metrics: LoadMetrics, fetched: FetchedData? = nil
    ) -> ImageResponse {
        ImageResponse(
            image: delivered(image), origin: origin, source: source, requestedSource: source, metrics: metrics,
            cacheRule: rule, encoded: encodedBytes(fetched))
    }

    /// Returns a closure that finds the source's encoded bytes for a response: those of the load, otherwise those on disk,
    /// of the file, the data or the provider.
    private func encodedBytes(_ fetched: FetchedData?) -> @Sendable () async throws -> Data {
        // Only the bytes are captured: a fetch may be joined for as long as it lives, and a response can be kept for
        // hours.
        if let data = fetched?.bytes { return { data } }
        return {
            let ticket = WorkTicket(priority: request.priority)
            if let stored = await FetchedData.stored(for: self, ticket: ticket) { return stored.data }
            guard let local = try await LocalSource.bytes(of: self, ticket: ticket) else {
                throw ImagePipelineError.notInCache(source: source.description)
            }
            return try await local.encoded(for: self, ticket: ticket).data
        }
    }
}

extension ImageRequest {
    /// Checks the request before anything is fetched for it.
    ///
    /// - Throws: `ImagePipelineError.invalidRequest`, and `.processing` with the error of a processor's own check.
    func validate() throws {
        if case .malformed(let text, let reason) = source {
            throw ImagePipelineError.invalidRequest(
                source: text.isEmpty ? "(no URL)" : source.description, reason: reason)
        }
        do {
            for processor in processors { try processor.validate() }
        } catch {
            throw ImagePipelineError.processor(error, source: source)
        }
    }

    /// Turns off all options that only matter for an image that is shown.
    mutating func showsNothing() {
        (wantsPreviews, wantsEveryPreview, cachePolicy.showsStale) = (false, false, false)
        modifier = nil
    }
}
