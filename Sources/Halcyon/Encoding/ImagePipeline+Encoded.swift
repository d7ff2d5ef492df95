extension ImagePipeline {
    /// The finished image of a request as a web response carries it: encoded, with media type, ETag and freshness.
    ///
    /// The encoded bytes are kept on disk under a key of their own, wherever the request's policy reads and writes the
    /// disk: a hit decodes nothing. Once they are stale the source's server is asked, and as long as the source's bytes are
    /// the same they are good again, and nothing is decoded either. They go when the source is removed from the cache.
    /// Callers who ask for the same at the same time share one encode, and with the last of them it ends.
    ///
    /// - Throws: `ImagePipelineError`, `.encoding` where the build cannot write the format or the image is none that it
    ///   can hold; `CancellationError`.
    public func data(for request: ImageRequest, as encoding: ImageEncoding) async throws -> EncodedImage {
        let resolved = ResolvedRequest(request, for: configuration)
        return try await coordinator.encodedImage(resolved, as: encoding)
    }
}
