import Foundation
import Halcyon
import Hummingbird
import ImageURLs

/// The picture that stands in for sources that have none, at the size and in the format that were asked for.
struct FallbackPicture: Sendable {
    let picture: LocalPicture

    /// Returns the answer in the place of a failure; nil if the failure is not the source's.
    func response(
        after error: any Error, to job: ImageJob, accept: AcceptField, _ service: ImageService,
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
        var headers: HTTPFields = [
            .contentType: answer.encoded.mediaType, .eTag: answer.encoded.etag,
            .cacheControl: "public, max-age=\(configuration.answer.fallbackTTL)",
        ]
        let names = ClientWishes.fields(for: job, usesHints: configuration.answer.usesClientHints)
        if !names.isEmpty { headers[.vary] = names.joined(separator: ", ") }
        let status = configuration.answer.fallbackStatus == 0 ? failure.status : configuration.answer.fallbackStatus
        return Response(
            status: .init(code: status), headers: headers,
            body: AnswerFields.body(answer.encoded.data))
    }
}
