extension ImagePrefetcher {
    /// The results of all requests, in the order of the requests. Each request is in one of the four lists.
    public struct Outcome: Sendable {
        /// The requests that were loaded.
        public var finished: [ImageRequest] = []
        /// The requests that were cached already, or that the destination does not store.
        public var skipped: [ImageRequest] = []
        /// The requests that failed; those that were loading when the prefetcher was stopped failed with `CancellationError`.
        public var failed: [Failure] = []
        /// The requests that `stop()` left before anything was loaded for them.
        public var notStarted: [ImageRequest] = []

        public init() {}
    }

    /// A request that failed, and its error.
    public struct Failure: Sendable {
        public let request: ImageRequest
        /// An `ImagePipelineError` or `ImagePrefetchError`; `CancellationError` if the load was cancelled by `stop()`, by
        /// cancelling all of the pipeline's loads, or by cancelling the downloader's transfers.
        public let error: any Error

        public init(request: ImageRequest, error: any Error) {
            self.request = request
            self.error = error
        }
    }
}
