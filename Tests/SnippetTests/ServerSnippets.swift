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
        configuration.defaults.decode = decode
    }
    return pipeline
}

struct ThumbnailsOfAServer {
    let pipeline: ImagePipeline

    func thumbnail(of url: URL, acceptsWebP: Bool) async throws -> EncodedImage {
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(320, 320), mode: .fit)])
        return try await pipeline.encodedImage(
            for: request, as: acceptsWebP ? .webp(quality: 0.8) : .jpeg(quality: 0.82))
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
