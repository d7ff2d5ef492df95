extension ImagePrefetcher {
    /// What became of each request, in the order of the requests. Each of them is in one of the four lists.
    public struct Outcome: Sendable {
        /// Loaded.
        public var finished: [ImageRequest] = []
        /// There already, or such as the destination does not keep.
        public var skipped: [ImageRequest] = []
        /// Ended with an error; those that were under way when the prefetcher was stopped, with `CancellationError`.
        public var failed: [Failure] = []
        /// Left by `stop()` before anything was loaded for them.
        public var notStarted: [ImageRequest] = []

        public init() {}
    }

    /// A request without an image.
    public struct Failure: Sendable {
        public let request: ImageRequest
        /// `ImagePipelineError`, `ImagePrefetchError`; `CancellationError` where it was called off, by `stop()` or by who
        /// cancelled all of the pipeline's loads or of the downloader's transfers.
        public let error: any Error

        public init(request: ImageRequest, error: any Error) {
            self.request = request
            self.error = error
        }
    }
}
