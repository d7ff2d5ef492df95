import HalcyonImage
import HalcyonSystem

/// The load of one caller's request: from memory, or from a load job that it shares with other callers.
@JobActor
struct RequestLoad {
    let resolved: ResolvedRequest
    let subscription: Subscription

    /// Returns the response to the request.
    ///
    /// - Throws: `ImagePipelineError.invalidRequest`, and the errors of the stages.
    func response() async throws -> ImageResponse {
        let watch = Stopwatch()
        try resolved.request.validate()
        let loaded = try await image()
        if resolved.cachePolicy.waitsForStore { await ImageStore(resolved).drain() }
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

    /// Returns the image as it is before its delivery. Memory is looked up again: the job that was under way when the
    /// request was made may have ended since.
    func image() async throws -> LoadedImage {
        let watch = Stopwatch()
        if let cached = resolved.target.image(for: resolved.key, policy: resolved.cachePolicy),
            case .answers(let rule) = FreshnessCheck(resolved).verdict(on: cached.http, mayRevalidateInBackground: true)
        {
            subscription.note(.cacheHit(.memory, rule), took: watch.elapsed)
            if rule == .staleWhileRevalidate { resolved.coordinator.revalidate(resolved) }
            return LoadedImage(cached, rule: rule, origin: .memory)
        }
        subscription.note(.cacheMissed(CacheMiss(.memory, resolved.memoryMiss)), took: watch.elapsed)
        return try await LoadJob.image(of: resolved, for: subscription)
    }
}
