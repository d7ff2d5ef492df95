import Foundation

/// A loaded image, with its origin and the metrics of the load.
public struct ImageResponse: Sendable {
    public let image: Image
    public let origin: ImageOrigin
    /// The source that the image came from.
    public let source: ImageSource
    /// The source of the request; it differs from `source` if an alternative stood in.
    public let requestedSource: ImageSource
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

/// The place in which an image was found when it was requested.
public enum ImageOrigin: String, Sendable, Hashable, CaseIterable {
    /// In memory, decoded and processed.
    case memory
    /// On disk, fresh.
    case disk
    /// In a cache, past its freshness: the server could not be asked, failed, or revalidates it in the background.
    /// `cacheRule` tells which.
    case stale
    /// On disk, and confirmed by the server.
    case revalidated
    case network
    case file
    /// In the request itself.
    case data
    /// From an `ImageDataProvider`.
    case provider
}
