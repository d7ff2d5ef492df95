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

    private let encoded: @Sendable () async throws -> Data

    init(
        image: Image, origin: ImageOrigin, source: ImageSource, originalSource: ImageSource, metrics: LoadMetrics,
        encoded: @escaping @Sendable () async throws -> Data
    ) {
        self.image = image
        self.origin = origin
        self.source = source
        self.originalSource = originalSource
        self.metrics = metrics
        self.encoded = encoded
    }

    /// The same for who had asked for another source.
    func standingIn(for original: ImageSource) -> ImageResponse {
        ImageResponse(
            image: image, origin: origin, source: source, originalSource: original, metrics: metrics, encoded: encoded)
    }

    /// The source's encoded bytes, before any processor: kept from the load, or read from disk after a memory hit.
    ///
    /// - Throws: `ImagePipelineError.notInCache` where they are kept nowhere any more.
    public func data() async throws -> Data {
        try await encoded()
    }
}
