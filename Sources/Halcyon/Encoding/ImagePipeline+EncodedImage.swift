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

    /// Returns an encoding that the disk or a store has and that may be used without asking the source's server; nil if there is
    /// none, if the request does not read the disk, and for `ImageEncoding.original`.
    ///
    /// A look-up and no load: nothing is fetched or made, alternatives are not tried, and it is not shared, traced or
    /// counted among the pipeline's events. It takes a part of the time of `encodedImage(for:as:)`, and a file that the kernel
    /// has in memory is read without a change of threads, which suits a server whose answers are on the disk.
    public func keptEncodedImage(for request: ImageRequest, as encoding: ImageEncoding) async -> EncodedImage? {
        let asked = ResolvedRequest(request, for: coordinator)
        let resolved = (encoding.isOfSource ? asked.ofSource : asked).changing { $0.showsNothing() }
        guard encoding != .original, (try? resolved.request.validate()) != nil,
            let kept = await EncodedSlots.find(resolved, encoding, ticket: WorkTicket())?.found?.kept,
            case .answers(let rule) = FreshnessCheck(resolved).verdict(on: kept.provenance.http)
        else { return nil }
        let answer = kept.used(by: rule, http: kept.provenance.http)
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
