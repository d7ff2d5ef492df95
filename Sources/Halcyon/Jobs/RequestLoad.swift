import HalcyonImage
import HalcyonSystem

/// The sources of a request, tried one after the other: its own, then its alternatives.
@JobActor
struct SourceAttempts {
    let resolved: ResolvedRequest
    let subscription: Subscription

    /// Calls `work` with the request and, as long as that fails, with each alternative in its place.
    ///
    /// - Throws: the error if one source was tried, `ImagePipelineError.allSourcesFailed` if there were several;
    ///   `CancellationError` at once.
    func first<Value: Sendable>(_ work: @JobActor (ResolvedRequest) async throws -> Value) async throws -> Value {
        var own = resolved
        var others = resolved.request.alternatives
        if let spare = resolved.request.lowDataAlternative, await isConstrained() {
            // The request's own source may come from the caches only, not from the network.
            own = resolved.changing { $0.cachePolicy.allowsNetwork = false }
            others.insert(spare, at: 0)
        }
        var errors: [ImagePipelineError] = []
        do {
            try subscription.checkCancellation()
            return try await work(own)
        } catch {
            errors.append(try failure(error, of: own.source))
        }
        for source in others {
            subscription.note(.alternativeTried(source.description))
            do {
                let other = try await resolve(source)
                try subscription.checkCancellation()
                return try await work(other)
            } catch {
                errors.append(try failure(error, of: source))
            }
        }
        if errors.count == 1, let error = errors.first { throw error }
        throw ImagePipelineError.allSourcesFailed(source: resolved.source.description, errors)
    }

    private func isConstrained() async -> Bool {
        guard resolved.isRemote, resolved.cachePolicy.allowsNetwork else { return false }
        return await resolved.coordinator.configuration.downloader.configuration.networkMonitor.status.isConstrained
    }

    /// Returns the error of a source that failed.
    ///
    /// - Throws: `CancellationError`, after which no other source is tried.
    private func failure(_ error: any Error, of source: ImageSource) throws -> ImagePipelineError {
        try subscription.checkCancellation()
        guard let error = ImagePipelineError.wrapping(error, source: source) as? ImagePipelineError else { throw error }
        return error
    }

    /// Resolves the request for another source, on a thread for files: the key of a file depends on the file's
    /// attributes.
    private func resolve(_ source: ImageSource) async throws -> ResolvedRequest {
        try await subscription.withTicket { ticket in
            try await ThreadPools.io.run(ticket: ticket) { _ in resolved.replacing(source) }
        }
    }
}

/// The load of one caller's request: from memory, or from a load job that it shares with other callers.
@JobActor
struct RequestLoad {
    let resolved: ResolvedRequest
    let subscription: Subscription

    /// Loads the image, from the request's source or else from an alternative.
    ///
    /// - Parameter end: called once, with the response, `ImagePipelineError.invalidRequest` or an error of the stages.
    func begin(_ end: @escaping @JobActor (Result<ImageResponse, any Error>) -> Void) {
        guard awaitsMore else { return join(end) }
        Task {
            do {
                end(.success(try await answer()))
            } catch {
                end(.failure(error))
            }
        }
    }

    /// Returns the response as `begin` does, to a task that waits for it.
    func answer() async throws -> ImageResponse {
        guard awaitsMore else { return try await response() }
        return try await SourceAttempts(resolved: resolved, subscription: subscription).first {
            try await RequestLoad(resolved: $0, subscription: subscription).response()
        }
    }

    /// Whether there is more to await than the load job: other sources, or the store.
    private var awaitsMore: Bool {
        let request = resolved.request
        return !request.alternatives.isEmpty || request.lowDataAlternative != nil || request.cachePolicy.waitsForStore
    }

    /// Calls `end` with the response from the request's own source. It creates no task: a thousand requests of one image share
    /// all that follows, and their tasks would be a quarter of the whole cost.
    private func join(_ end: @escaping @JobActor (Result<ImageResponse, any Error>) -> Void) {
        let watch = Stopwatch()
        do {
            try resolved.request.validate()
        } catch {
            return end(.failure(error))
        }
        if let loaded = inMemory() { return end(.success(response(loaded, watch))) }
        LoadJob.join(for: resolved, subscription) { result in end(result.map { response($0, watch) }) }
    }

    /// Returns the response to the request.
    ///
    /// - Throws: `ImagePipelineError.invalidRequest`, and the errors of the stages.
    private func response() async throws -> ImageResponse {
        let watch = Stopwatch()
        try resolved.request.validate()
        let loaded = try await image()
        if resolved.cachePolicy.waitsForStore { await ImageStore(resolved).drain() }
        return response(loaded, watch)
    }

    private func response(_ loaded: LoadedImage, _ watch: Stopwatch) -> ImageResponse {
        var metrics = LoadMetrics()
        metrics.total = watch.elapsed
        metrics.decode = loaded.decode
        metrics.process = loaded.process
        metrics.bytes = loaded.provenance.encodedBytes
        metrics.transfer = loaded.fetched?.transfer
        return resolved.response(
            loaded.image, origin: loaded.provenance.origin, rule: loaded.provenance.rule, metrics,
            fetched: loaded.fetched)
    }

    /// Returns the image as it is before its delivery.
    func image() async throws -> LoadedImage {
        if let loaded = inMemory() { return loaded }
        return try await LoadJob.image(of: resolved, for: subscription)
    }

    /// Returns the image in memory, which is looked up again: the job that was under way when the request was made may have
    /// ended since.
    private func inMemory() -> LoadedImage? {
        let watch = Stopwatch()
        if let cached = resolved.target.image(for: resolved.key, policy: resolved.cachePolicy),
            case .answers(let rule) = FreshnessCheck(resolved).verdict(on: cached.http, mayRevalidateInBackground: true)
        {
            subscription.note(.cacheHit(.memory, rule), took: watch.elapsed)
            if rule == .staleWhileRevalidate { resolved.coordinator.revalidate(resolved) }
            return LoadedImage(cached, rule: rule, origin: .memory)
        }
        resolved.target.countMiss(resolved.cachePolicy)
        subscription.note(.cacheMissed(CacheMiss(.memory, resolved.memoryMiss)), took: watch.elapsed)
        return nil
    }
}
