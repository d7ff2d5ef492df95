import Foundation

/// A loaded image, with its origin and the metrics of the load.
public struct ImageResponse: Sendable {
    /// The finished image, decoded and processed.
    public let image: Image
    /// The origin of the image.
    public let origin: ImageOrigin
    /// The source that the image came from.
    public let source: ImageSource
    /// The source of the request; it differs from `source` if an alternative stood in.
    public let requestedSource: ImageSource
    /// The metrics of the load.
    public let metrics: LoadMetrics
    /// The HTTP cache rule that let a cache answer, or by which the server's answer was kept or not; nil for a file or
    /// data.
    public let cacheRule: CacheRule?

    private let encoded: @Sendable () async throws -> Data

    init(
        image: Image, origin: ImageOrigin, source: ImageSource, requestedSource: ImageSource, metrics: LoadMetrics,
        cacheRule: CacheRule?, encoded: @escaping @Sendable () async throws -> Data
    ) {
        self.image = image
        self.origin = origin
        self.source = source
        self.requestedSource = requestedSource
        self.metrics = metrics
        self.cacheRule = cacheRule
        self.encoded = encoded
    }

    /// Creates a response that was not loaded by a pipeline, such as that of an `ImageInterceptor` which answers by itself.
    ///
    /// - Parameters:
    ///   - source: the source that the image came from.
    ///   - origin: the origin of the image; `.provider` by default.
    ///   - data: returns the encoded bytes for `data()`; by default it throws `ImagePipelineError.notInCache`.
    public init(
        image: Image, source: ImageSource, origin: ImageOrigin = .provider,
        data: (@Sendable () async throws -> Data)? = nil
    ) {
        let none: @Sendable () async throws -> Data = {
            throw ImagePipelineError.notInCache(source: source.description)
        }
        self.init(
            image: image, origin: origin, source: source, requestedSource: source, metrics: LoadMetrics(),
            cacheRule: nil, encoded: data ?? none)
    }

    /// Returns the response with another image in its place: no cache keeps that one.
    public func replacing(_ image: Image) -> ImageResponse {
        ImageResponse(
            image: image, origin: origin, source: source, requestedSource: requestedSource, metrics: metrics,
            cacheRule: cacheRule, encoded: encoded)
    }

    /// Returns the response to a request for another source, for which this one stood in.
    func standingIn(for original: ImageSource, _ metrics: LoadMetrics) -> ImageResponse {
        ImageResponse(
            image: image, origin: origin, source: source, requestedSource: original, metrics: metrics,
            cacheRule: cacheRule, encoded: encoded)
    }

    /// Returns the source's encoded bytes, before any processor: kept from the load, or read from disk after a memory
    /// hit.
    ///
    /// - Throws: `ImagePipelineError.notInCache` if no cache keeps them any more.
    public func data() async throws -> Data {
        try await encoded()
    }
}

/// The origin of a result: the cache or the source that had the image when it was requested.
public enum ImageOrigin: String, Sendable, Hashable, CaseIterable {
    /// The memory cache, which had the image decoded and processed.
    case memory
    /// The disk cache, which had a fresh entry.
    case disk
    /// A cache, whose entry is past its freshness: the server could not be asked, failed, or revalidates it in the
    /// background. `ImageResponse.cacheRule` says which.
    case stale
    /// The disk cache, whose entry the server confirmed.
    case revalidated
    /// A server, from which the image was transferred.
    case network
    /// The file that the request names.
    case file
    /// The request itself, which contains the bytes.
    case data
    /// An `ImageDataProvider`, or an `ImageInterceptor` that answered by itself.
    case provider
}
