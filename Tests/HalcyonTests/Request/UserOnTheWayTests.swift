import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

/// The user that a response belongs to, if it came by way of redirects or in several parts.
@Suite(.timeLimit(.minutes(5)))
struct UserOnTheWayTests {
    /// A header field that the program has named as identifying the user stays at its origin.
    @Test func fieldsThatTheProgramNamesAreNotShownToOthers() async throws {
        let transport = ScriptedTransport()
        let fixture = PipelineFixture(transport: transport) {
            var download = ImageDownloader.Configuration(transport: transport)
            download.credentialFields = CredentialFields(adding: ["X-Team"])
            $0.downloader = ImageDownloader(download)
        }
        let (here, other) = (PipelineFixture.url("a"), URL(web: "http://other.test/a"))
        transport.answer(here, with: .redirect(301, to: other.absoluteString))
        transport.answer(other, with: .data(try TestFiles.data("png/rgb8.png")))
        var request = ImageRequest(here)
        request.network.headers = ["X-Team": "red", "X-Size": "small"]
        _ = try await fixture.pipeline.image(for: request)
        var fallback = ImageRequest(URL(web: "http://gone.test/a"))
        fallback.network.headers = request.network.headers
        fallback.alternatives = [.remote(other)]
        _ = try await fixture.pipeline.image(for: fallback)
        #expect(transport.requests(for: other).count > 0)
        for sent in transport.requests(for: other) {
            #expect(sent.headers["X-Team"] == nil && sent.headers["X-Size"] == "small")
        }
    }

    /// A credential of a user whom the caches do not know, even if it is in the URL.
    @Test(arguments: ["field", "url", "named"])
    func aCredentialThatAHookAddsToARedirectIsNobodys(way: String) async throws {
        let fixture = PipelineFixture()
        let (url, target) = (PipelineFixture.url("moved"), URL(web: "http://images.test/b"))
        let data = try TestFiles.data("png/rgb8.png")
        fixture.transport.answer(url, with: .redirect(301, to: target.absoluteString))
        fixture.transport.answer(target, with: .data(data, headers: ["Cache-Control": "private, max-age=60"]))
        var hooks = DownloadHooks()
        hooks.redirect = { _, next in
            var next = next
            if way == "url" {
                next.url = URL(web: "http://alice:password@images.test/b")
            } else {
                next.headers.set("Authorization", "Bearer alice")
            }
            return next
        }
        var request = ImageRequest(url)
        request.network.hooks = RequestHooks(id: "alice", hooks)
        if way == "named" { request.network.user = "alice" }
        request.cachePolicy.waitsForStore = true
        let isNamed = way == "named"
        let first = try await fixture.pipeline.response(for: request)
        #expect(first.cacheRule == (isNamed ? .stored : .notStored(.unknownUser)))
        #expect(await fixture.diskEntries() == (isNamed ? 1 : 0))
        let sent = try #require(fixture.transport.requests(for: target).first)
        #expect(sent.headers["Authorization"] != nil && sent.url.password == nil)
    }

    /// A host on the way identifies the client by a certificate, and redirects each elsewhere.
    @Test func aCertificateThatIsShownOnTheWayCounts() async throws {
        let (base, folder) = (ScriptedTransport(), TemporaryFolder())
        let urls = ["http://a.test/", "http://b.test/", "http://c.test/"].map { URL(web: $0) }
        base.answer(urls[0], with: .redirect(301, to: urls[1].absoluteString))
        base.answer(urls[1], with: .redirect(301, to: urls[2].absoluteString))
        base.answer(
            urls[2], with: .data(try TestFiles.data("png/rgb8.png"), headers: ["Cache-Control": "private, max-age=60"]))
        for user in ["alice", "bob"] {
            let pipeline = ImagePipeline(
                configuration: .init(
                    cache: ImageCache(disk: DiskCache(folder: folder.url)),
                    downloader: ImageDownloader(
                        .init(transport: KnownTransport(base: base, host: "b.test", name: user)))))
            var request = ImageRequest(urls[0])
            request.cachePolicy.waitsForStore = true
            let response = try await pipeline.response(for: request)
            #expect(response.origin == .network)
            #expect(response.cacheRule == .notStored(.unknownUser))
        }
    }

    /// The transport shows its name below the fields, by which bodies are found.
    @Test func theBeginningOfABodyIsGoneOnWithByItsUserAlone() async throws {
        let (base, folder) = (ScriptedTransport(), TemporaryFolder())
        let url = URL(web: "http://b.test/")
        base.answer(
            url,
            with: .init(
                headers: ["Content-Length": "100000", "ETag": "\"1\""],
                steps: [.chunk(Data(count: 50_000)), .fail(DownloadError(.connection(.reset), url: url))]))
        for (user, range) in [("alice", nil), ("bob", nil), ("alice", "bytes=50000-")] as [(String, String?)] {
            var configuration = ImageDownloader.Configuration(
                transport: KnownTransport(base: base, host: "b.test", name: user))
            configuration.retry = .never
            configuration.partialBodies = PartialBodyFiles(folder: folder.url)
            let downloader = ImageDownloader(configuration)
            _ = try? await downloader.download(url)
            // A body that could not be resumed was requested once more, as a whole.
            let last = base.requests.last { ($0.headers["Range"] != nil) == (range != nil) }
            #expect(base.requests.contains { $0.headers["Range"] != nil } == (range != nil), "\(user)")
            #expect(last?.headers["Range"] == range)
        }
    }
}

/// Shows its name to one host, below the fields.
private struct KnownTransport: Transport {
    let base: ScriptedTransport
    let host: String
    let name: String
    var identifiesUsers: Bool { true }
    func user(for url: URL) -> String? { url.host() == host ? name : nil }
    func send(_ request: TransportRequest) async throws -> TransportResponse { try await base.send(request) }
}
