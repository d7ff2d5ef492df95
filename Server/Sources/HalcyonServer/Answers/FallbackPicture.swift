import Foundation
import Halcyon
import Hummingbird
import ImageURLs

/// The picture that stands in for sources that have none, at the size and in the format that were asked for.
struct FallbackPicture: Sendable {
    let picture: LocalPicture

    /// Returns the answer in the place of a failure; nil if the failure is not the source's.
    ///
    /// - Parameter isPrivate: whether the source's server was told fields of this client, so that the failure may be its own.
    func response(
        after error: any Error, to job: ImageJob, accept: AcceptField, isPrivate: Bool, now: Date,
        _ service: ImageService,
        _ configuration: ServerConfiguration
    ) async throws -> Response? {
        let failure = AnswerFailure(error, wait: configuration.queue.waitingTime)
        guard !(error is ImageURLError), !(error is CancellationError),
            [404, 422, 502, 504].contains(failure.status)
        else { return nil }
        var job = job
        job.raw = false
        job.skipProcessing = []
        let address = try await picture.address(for: job, configuration.source)
        let answer = try await service.answer(to: job, at: address, accept: accept)
        let rule = CacheControl(maximumAge: configuration.answer.fallbackTTL, isPrivate: isPrivate)
            .limited(by: job, now: now)
        var headers: HTTPFields = [
            .contentType: answer.bytes.mediaType, .eTag: answer.bytes.etag, .cacheControl: rule.text,
        ]
        headers[.vary] = ClientWishes.vary(job, configuration)
        let status = configuration.answer.fallbackStatus == 0 ? failure.status : configuration.answer.fallbackStatus
        return Response(status: .init(code: status), headers: headers, body: answer.bytes.body())
    }
}
