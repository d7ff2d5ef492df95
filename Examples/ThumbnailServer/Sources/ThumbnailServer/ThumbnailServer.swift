import Foundation
import Halcyon
import Hummingbird
import Logging

/// A web server that makes thumbnails of images elsewhere: `GET /thumb?url=...&w=...&h=...`.
///
/// URLs come from strangers, so it asks servers of the public Internet only, at the usual ports, and nothing that is too
/// large or takes too long. Thumbnails are kept on disk, encoded; each is made once, however many ask.
@main
struct ThumbnailServer {
    static func main() async throws {
        let options = ServerOptions(CommandLine.arguments.dropFirst())
        let pipeline = makePipeline(options)
        let router = Router()
        router.get("thumb") { request, _ in
            // A client that disconnects cancels its load, unless others wait for the same thumbnail.
            try await request.body.consumeWithCancellationOnInboundClose { _ in await answer(request, pipeline) }
        }
        let server = Application(
            router: router, configuration: .init(address: .hostname(options.host, port: options.port)),
            onServerRunning: { print("listening on port \($0.localAddress?.port ?? 0)") },
            logger: options.logger)
        try await server.runService()
        await pipeline.shutdown()
    }

    private static func makePipeline(_ options: ServerOptions) -> ImagePipeline {
        var download = ImageDownloader.Configuration(
            headers: ImageDownloader.Configuration.defaultHeaders(
                application: "ThumbnailServer", accept: "image/*"))
        download.addressPolicy = options.addressPolicy
        var configuration = ImagePipeline.Configuration(
            cache: ImageCache(disk: DiskCache(folder: options.cacheFolder)), downloader: ImageDownloader(download),
            maximumBytes: 20_000_000)
        configuration.logger = options.logger
        return ImagePipeline(configuration: configuration)
    }

    private static func answer(_ request: Request, _ pipeline: ImagePipeline) async -> Response {
        do {
            let query = request.uri.queryParameters
            let image = try imageRequest(
                query["url"].map(String.init), query["w"].map(String.init), query["h"].map(String.init))
            let takesWebP = request.headers[.accept]?.contains("image/webp") ?? false
            let encoded = try await pipeline.encodedImage(
                for: image, as: takesWebP ? .webp(quality: 0.8) : .jpeg(quality: 0.82))
            var headers: HTTPFields = [
                .eTag: encoded.etag, .vary: "Accept",
                .cacheControl: encoded.freshness.cacheControl ?? "max-age=3600",
            ]
            if encoded.matches(ifNoneMatch: request.headers[.ifNoneMatch]) {
                return Response(status: .notModified, headers: headers)
            }
            headers[.contentType] = encoded.mediaType
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: encoded.data)))
        } catch let refusal as Refusal {
            return failure(.badRequest, refusal.reason)
        } catch let error as ImagePipelineError {
            return failure(status(of: error.failure), error.code)
        } catch {
            return failure(.serviceUnavailable, "cancelled")
        }
    }

    private struct Refusal: Error {
        let reason: String
    }

    private static func imageRequest(_ url: String?, _ width: String?, _ height: String?) throws -> ImageRequest {
        // Neither files of this machine nor `data:` URLs.
        guard let url, case .remote(let remote) = ImageSource(string: url) else { throw Refusal(reason: "url") }
        func side(_ text: String?) throws -> Int {
            guard let text else { return 320 }
            guard let number = Int(text), (1...2048).contains(number) else { throw Refusal(reason: "size") }
            return number
        }
        let size = PixelSize(try side(width), try side(height ?? width))
        var request = ImageRequest(remote, processors: [.resize(to: size, mode: .fit)])
        request.decode.limits.maximumPixels = 50_000_000
        request.network.totalTimeout = .seconds(20)
        // A thumbnail is found encoded; its pixels are of no use after that.
        request.cachePolicy.writes.remove(.memory)
        return request
    }

    private static func status(of error: ImagePipelineError) -> HTTPResponse.Status {
        switch error {
        case .invalidRequest, .badSource: .badRequest
        case .decoding(_, .limitExceeded): .unprocessableContent
        case .decoding: .unsupportedMediaType
        case .download(_, let error):
            switch error.reason {
            case .invalidURL, .invalidRequest: .badRequest
            case .refusedAddress: .forbidden
            case .httpStatus(404), .httpStatus(410): .notFound
            case .tooLarge: .unprocessableContent
            case .timeout: .gatewayTimeout
            default: .badGateway
            }
        default: .internalServerError
        }
    }

    private static func failure(_ status: HTTPResponse.Status, _ reason: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: "\(reason)\n")))
    }
}
