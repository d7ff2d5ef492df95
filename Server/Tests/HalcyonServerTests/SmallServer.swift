// The example of docs/Servers.md that needs a web framework. SnippetTests of the library looks for the block in this file.

import Foundation
import Halcyon
import HalcyonTesting
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

struct ThumbnailServer {
    let pipeline: ImagePipeline

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("thumb") { request, _ in
            // A client that leaves cancels its load, unless others wait for the same thumbnail.
            try await request.body.consumeWithCancellationOnInboundClose { _ in await answer(to: request) }
        }
        return router
    }

    func answer(to request: Request) async -> Response {
        // Neither files of this machine nor `data:` URLs.
        guard let text = request.uri.queryParameters["url"], case .remote(let url) = ImageSource(string: String(text))
        else { return Response(status: .badRequest) }
        do {
            let thumbnail = ImageRequest(url, processors: [.resize(to: PixelSize(320, 320), mode: .fit)])
            let isWebP = request.headers[.accept]?.contains("image/webp") ?? false
            let encoded = try await pipeline.encodedImage(
                for: thumbnail, as: isWebP ? .webp(quality: 0.8) : .jpeg(quality: 0.82))
            var headers: HTTPFields = [
                .eTag: encoded.etag, .vary: "Accept",
                .cacheControl: encoded.freshness.cacheControl ?? "max-age=300",
            ]
            if encoded.matches(ifNoneMatch: request.headers[.ifNoneMatch]) {
                return Response(status: .notModified, headers: headers)
            }
            headers[.contentType] = encoded.mediaType
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: encoded.data)))
        } catch {
            return Response(status: .badGateway, headers: [.cacheControl: "no-store"])
        }
    }
}

@Suite struct SmallServerTests {
    @Test func thumbnailsTagsAndRefusals() async throws {
        let transport = ScriptedTransport()
        let url = try #require(URL(string: "http://images.test/a.jpg"))
        transport.answer(url, with: .data(try ServerFixture.fixture("jpeg/baseline-420.jpg")))
        let server = ThumbnailServer(pipeline: ImagePipeline(configuration: .testing(transport: transport)))
        try await Application(router: server.router).test(.router) { client in
            let path = "/thumb?url=http://images.test/a.jpg"
            let first = try await client.execute(uri: path, method: .get)
            #expect(first.status == .ok && first.headers[.contentType] == "image/jpeg")
            #expect(try Image(data: Data(first.body.readableBytesView)).size.width > 0)
            let tag = try #require(first.headers[.eTag])
            let known = try await client.execute(uri: path, method: .get, headers: [.ifNoneMatch: tag])
            #expect(known.status == .notModified)
            let smaller = try await client.execute(uri: path, method: .get, headers: [.accept: "image/webp"])
            #expect(smaller.headers[.contentType] == "image/webp")
            #expect(transport.requestCount == 1)
            for none in ["/thumb", "/thumb?url=file:///etc/passwd", "/thumb?url=data:,"] {
                #expect(try await client.execute(uri: none, method: .get).status == .badRequest)
            }
            #expect(try await client.execute(uri: "/thumb?url=http://x.test/", method: .get).status == .badGateway)
        }
    }
}
