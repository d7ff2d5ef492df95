import HalcyonNetwork
import HalcyonSystem

extension ImagePipeline {
    /// Returns the finished image of a request for a web response: encoded, with media type, ETag and freshness.
    ///
    /// The encoded bytes are kept on disk under a key of their own, if the request's policy reads and writes the disk:
    /// a hit decodes nothing. Once they are stale the source's server is asked, and as long as the source's bytes are
    /// the same the encoded ones are valid again, and nothing is decoded either. They are removed when the source is
    /// removed from the cache. Callers that ask for the same encoding at the same time share one encode, which is
    /// cancelled with the last of them.
    ///
    /// - Throws: `ImagePipelineError`, `.encoding` if no coder writes the format, the format cannot hold the image, or
    ///   the quality is not from 0 to 1; `CancellationError`.
    public func encodedImage(for request: ImageRequest, as encoding: ImageEncoding) async throws -> EncodedImage {
        do {
            return try await coordinator.encodedImage(ResolvedRequest(request, for: coordinator), as: encoding)
        } catch {
            throw ImagePipelineError.wrapping(error, source: request.source)
        }
    }

    /// Returns what `encodedImage(for:as:)` would return from the disk alone; nil if there is nothing that may be used without the
    /// source's server, or the task is cancelled.
    ///
    /// Nothing is fetched, decoded, encoded or waited for but the disk and the stores behind it. A server looks here before it
    /// lets a request into its queue. It is no load: no event and no metrics tell of it. Only the request's first source is
    /// looked for. A file that the kernel has in memory is read without a change of threads.
    public func cachedEncodedImage(for request: ImageRequest, as encoding: ImageEncoding) async -> EncodedImage? {
        let (resolved, ticket) = (ResolvedRequest(request, for: coordinator), WorkTicket(priority: request.priority))
        let answer = await withTaskCancellationHandler {
            try? await EncodeJob.keptAnswer(to: resolved, as: encoding, ticket: ticket)
        } onCancel: {
            ticket.cancel()
        }
        guard let answer, !Task.isCancelled else { return nil }
        return EncodedImage(answer, of: resolved, from: resolved.source, metrics: LoadMetrics())
    }
}

extension EncodedImage {
    fileprivate init(
        _ answer: EncodedAnswer, of resolved: ResolvedRequest, from source: ImageSource, metrics: LoadMetrics
    ) {
        let provenance = answer.provenance
        let freshness = EncodedFreshness(
            provenance.http, isNotStored: !provenance.mayBeKept, isOfUser: resolved.key.user != nil,
            now: resolved.coordinator.configuration.clock.now)
        self.init(freshness: freshness, source: source, metrics: metrics, answer: answer)
    }
}

extension Coordinator {
    fileprivate func encodedImage(_ resolved: ResolvedRequest, as encoding: ImageEncoding) async throws -> EncodedImage
    {
        let record = begin(resolved.source, priority: resolved.request.priority)
        let ((answer, source), metrics) = try await run(record) { subscription in
            let attempts = SourceAttempts(resolved: resolved, subscription: subscription)
            let result = try await attempts.first {
                (try await EncodeJob.answer(to: $0, as: encoding, for: subscription), $0.source)
            }
            return (result, result.0.provenance)
        }
        return EncodedImage(answer, of: resolved, from: source, metrics: metrics)
    }
}
