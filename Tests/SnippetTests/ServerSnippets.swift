// The examples of docs/Servers.md, compiled. SnippetTests looks for each of its Swift blocks in this file.

import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonObservability
import HalcyonTesting
import Logging
import ServiceLifecycle
import Testing

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

    func thumbnail(of address: String?, width: String?, height: String?) -> ImageRequest? {
        // Neither files of this machine nor `data:` URLs.
        guard let address, case .remote(let url) = ImageSource(string: address),
            let width = Int(width ?? "320"), let height = Int(height ?? "\(width)"),
            (1...2048).contains(width), (1...2048).contains(height)
        else { return nil }
        var request = ImageRequest(url, processors: [.resize(to: PixelSize(width, height), mode: .fit)])
        request.decode.limits.maximumPixels = 50_000_000
        request.network.totalTimeout = .seconds(20)
        // An answer is found encoded; its pixels are of no use after that.
        request.cachePolicy.writes.remove(.memory)
        return request
    }

    func answer(to request: ImageRequest, accept: String, ifNoneMatch: String?) async throws -> Answer {
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

    func smallest(of request: ImageRequest, accept: String) async throws -> EncodedImage {
        let options = EncodeOptions(qualityTarget: QualityTarget(score: 85, qualities: 0.3...0.95))
        var encoding = ImageEncoding(.jpeg, options: options)
        if accept.contains("image/webp") { encoding = encoding.orSmaller(ImageEncoding(.webp, options: options)) }
        return try await pipeline.encodedImage(for: request, as: encoding)
    }

    func original(of url: URL, accept: String) async throws -> EncodedImage {
        let request = ImageRequest(url)
        if accept.contains("image/jxl"),
            let smaller = try? await pipeline.encodedImage(for: request, as: .transcoded(to: .jpegXL))
        {
            return smaller
        }
        return try await pipeline.encodedImage(for: request, as: .original)
    }

    func status(of error: any Error) -> Int {
        guard let error = error as? ImagePipelineError else { return 500 }
        switch (error.underlying as? DownloadError)?.reason {
        case .httpStatus(404), .httpStatus(410): return 404
        default: break
        }
        switch error.code {
        case "invalidRequest", "refusedAddress": return 400
        case "limitExceeded", "tooLarge": return 413
        case "notAnImage", "unsupportedFormat", "damagedImage": return 415
        case "timeout": return 504
        default: return 502
        }
    }
}

/// The statuses of docs/Servers.md by what really fails.
@Suite(.timeLimit(.minutes(5))) struct ServerStatusTests {
    private func status(_ answer: ScriptedTransport.Answer) async throws -> Int {
        let transport = ScriptedTransport { _ in answer }
        let pipeline = ImagePipeline(configuration: .testing(transport: transport))
        let server = ThumbnailsOfAServer(pipeline: pipeline)
        let url = try #require(URL(string: "http://images.example/a.png"))
        do {
            return try await server.answer(to: ImageRequest(url), accept: "", ifNoneMatch: nil).status
        } catch {
            return server.status(of: error)
        }
    }

    @Test func eachFailureHasItsStatus() async throws {
        let png = try Image(width: 1, height: 1, pixels: [1, 2, 3, 255], layout: .rgba).data(as: .png)
        #expect(try await status(.data(png)) == 200)
        for (theirs, ours) in [(404, 404), (410, 404), (414, 502), (500, 502)] {
            #expect(try await status(.status(theirs)) == ours)
        }
        #expect(try await status(.data(Data("<html></html>".utf8))) == 415)
        #expect(try await status(.data(png.prefix(40))) == 415)
        let url = try #require(URL(string: "http://images.example/a.png"))
        #expect(try await status(.failure(DownloadError(.timeout(.idle), url: url))) == 504)
        #expect(try await status(.failure(DownloadError(.refusedAddress("10.0.0.1"), url: url))) == 400)
        #expect(try await status(.failure(DownloadError(.tooLarge(limit: 1), url: url))) == 413)
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
