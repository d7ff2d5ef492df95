import Foundation

/// A loaded image, and how it came.
public struct ImageResponse: Sendable {
    public let image: Image
    public let origin: ImageOrigin
    /// The source that the image came from.
    public let source: ImageSource
    /// The source that was asked for; another one when an alternative stood in.
    public let originalSource: ImageSource
    public let metrics: LoadMetrics
    /// Which of HTTP's rules let a cache answer, or decided what became of the server's answer; nil for a file or data.
    public let cacheRule: CacheRule?

    private let encoded: @Sendable () async throws -> Data

    init(
        image: Image, origin: ImageOrigin, source: ImageSource, originalSource: ImageSource, metrics: LoadMetrics,
        cacheRule: CacheRule?, encoded: @escaping @Sendable () async throws -> Data
    ) {
        self.image = image
        self.origin = origin
        self.source = source
        self.originalSource = originalSource
        self.metrics = metrics
        self.cacheRule = cacheRule
        self.encoded = encoded
    }

    /// The same for who had asked for another source.
    func standingIn(for original: ImageSource, _ metrics: LoadMetrics) -> ImageResponse {
        ImageResponse(
            image: image, origin: origin, source: source, originalSource: original, metrics: metrics,
            cacheRule: cacheRule, encoded: encoded)
    }

    /// The source's encoded bytes, before any processor: kept from the load, or read from disk after a memory hit.
    ///
    /// - Throws: `ImagePipelineError.notInCache` where they are kept nowhere any more.
    public func data() async throws -> Data {
        try await encoded()
    }
}

/// Where an image was when it was asked for.
public enum ImageOrigin: String, Sendable, Hashable, CaseIterable {
    /// In memory, decoded and processed.
    case memory
    /// On disk, fresh.
    case disk
    /// In a cache, past its freshness: the server could not be asked, failed, or is asked behind. `cacheRule` says which.
    case stale
    /// On disk, and the server said that it still holds.
    case revalidated
    case network
    case file
    /// In the request itself.
    case data
    /// An `ImageDataProvider`.
    case provider
}
