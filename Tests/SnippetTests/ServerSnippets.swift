// The examples of docs/Servers.md, compiled. SnippetTests looks for each of its Swift blocks in this file.

import Foundation
import Halcyon
import HalcyonObservability
import Logging
import ServiceLifecycle

func serverPipeline() -> ImagePipeline {
    let pipeline = ImagePipeline { configuration in
        configuration.changeDownloader {
            $0.addressPolicy = .publicInternet
            $0.timeouts.total = .seconds(20)
        }
        configuration.maximumBytes = 20_000_000
        var decode = DecodeOptions()
        decode.limits.maximumSourcePixels = 100_000_000
        decode.limits.maximumPixels = 100_000_000
        configuration.defaults.decode = decode
    }
    return pipeline
}

struct ThumbnailsOfAServer {
    let pipeline: ImagePipeline

    struct Answer {
        let status: Int
        let fields: [String: String]
        let body: Data
    }

    func answer(to url: URL, accept: String, ifNoneMatch: String?) async throws -> Answer {
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(320, 320), mode: .fit)])
        let encoding: ImageEncoding = accept.contains("image/webp") ? .webp(quality: 0.8) : .jpeg(quality: 0.82)
        let encoded = try await pipeline.encodedImage(for: request, as: encoding)
        let fields = [
            "Content-Type": encoded.mediaType,
            "ETag": encoded.etag,
            "Vary": "Accept",
            // Nil where the source's own server says nothing.
            "Cache-Control": encoded.freshness.cacheControl ?? "max-age=300",
        ]
        if encoded.matches(ifNoneMatch: ifNoneMatch) { return Answer(status: 304, fields: fields, body: Data()) }
        return Answer(status: 200, fields: fields, body: encoded.data)
    }

    func status(of error: any Error) -> Int {
        guard let error = error as? ImagePipelineError else { return 500 }
        if case .httpStatus(404 | 410) = (error.underlying as? DownloadError)?.reason { return 404 }
        switch error.code {
        case "invalidRequest", "refusedAddress": return 400
        case "limitExceeded", "tooLarge": return 413
        case "unknownFormat", "damagedImage": return 415
        case "timeout": return 504
        default: return 502
        }
    }
}

func serverServices(
    _ configuration: ImagePipeline.Configuration, server: any Service, logger: Logger
) async throws {
    var configuration = configuration
    configuration.tracer = PipelineTracer()
    let pipeline = ImagePipeline(configuration: configuration)
    let service = PipelineService(pipeline, metrics: PipelineMetrics(pipeline))
    let group = ServiceGroup(services: [service, server], logger: logger)
    try await group.run()
}
