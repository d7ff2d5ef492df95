import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// A program's hooks on requests, seen through a whole pipeline.
@Suite(.timeLimit(.minutes(5)))
struct RequestHooksTests {
    private static func scrambled(_ data: Data) -> Data { Data(data.map { $0 ^ 0x5A }) }

    private static let decryptor: RequestHooks = {
        var hooks = DownloadHooks()
        hooks.data = { data, _ in scrambled(data) }
        return RequestHooks(id: "decryptor", hooks)
    }()

    private func request(_ url: URL, _ hooks: RequestHooks?) -> ImageRequest {
        var request = ImageRequest(url)
        request.network.hooks = hooks
        return request
    }

    private func naming(_ name: String) -> RequestHooks {
        var hooks = DownloadHooks()
        hooks.request = { request in
            var request = request
            request.headers["X-Name"] = name
            return request
        }
        return RequestHooks(id: name, hooks)
    }

    @Test func decryptedDataIsDecodedAndCached() async throws {
        let fixture = PipelineFixture()
        let plain = try TestFiles.data("png/rgb8.png")
        let url = PipelineFixture.url("secret")
        fixture.transport.answer(url, with: .data(Self.scrambled(plain)))
        var request = request(url, Self.decryptor)
        // Only the bytes: the next load decodes what the disk has.
        request.cachePolicy.writes = [.diskOriginal]
        request.cachePolicy.waitsForStore = true
        _ = try await fixture.pipeline.image(for: request)
        await fixture.pipeline.configuration.cache.disk?.flush()
        let again = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(again.image.size.width > 0)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func requestsWithDifferentHooksNeverShareATransfer() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let hooks = [naming("a"), naming("b"), naming("a"), nil]
        let tasks = hooks.map { fixture.pipeline.task(for: request(url, $0)) }
        try await fixture.transport.waitForRequests(3)
        gate.open()
        for task in tasks { _ = try await task.response }
        let names = fixture.transport.requests.map { $0.headers["X-Name"] }
        #expect(names.count == 3)
        #expect(Set(names) == ["a", "b", nil])
    }

    @Test func downloadsWithDifferentHooksDoNotShareTransfer() async throws {
        let transport = ScriptedTransport()
        let downloader = ImageDownloader(ImageDownloader.Configuration(transport: transport))
        let url = PipelineFixture.url("a")
        transport.answer(url, with: .data(Data("ab".utf8)))
        func reversing(_ id: String) -> RequestHooks {
            var hooks = DownloadHooks()
            hooks.data = { data, _ in Data(data.reversed()) }
            return RequestHooks(id: id, hooks)
        }
        var request = DownloadRequest(url: url)
        request.hooks = reversing("a")
        async let changed = downloader.download(request)
        async let plain = downloader.download(url)
        #expect(try await changed.data == Data("ba".utf8))
        #expect(try await plain.data == Data("ab".utf8))
        #expect(transport.requestCount == 2)
    }

    @Test func downloaderHooksRunBeforeRequestHooks() async throws {
        let order = Lock<[String]>([])
        func noting(_ name: String) -> DownloadHooks {
            @Sendable func note(_ what: String) { order.withLock { $0.append("\(name) \(what)") } }
            var hooks = DownloadHooks()
            hooks.request = {
                note("request"); return $0
            }
            hooks.redirect = {
                note("redirect"); return $1
            }
            hooks.response = {
                note("response"); return $0
            }
            hooks.wantsBody = { _ in
                note("body"); return true
            }
            hooks.chunk = { _, _ in note("chunk") }
            hooks.data = { data, _ in
                note("data"); return data
            }
            return hooks
        }
        let transport = ScriptedTransport()
        let (url, target) = (PipelineFixture.url("a"), PipelineFixture.url("b"))
        transport.answer(url, with: .redirect(to: target.absoluteString))
        transport.answer(target, with: .data(Data("ab".utf8)))
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.hooks = noting("1")
        var request = DownloadRequest(url: url)
        request.hooks = RequestHooks(id: "2", noting("2"))
        _ = try await ImageDownloader(configuration).download(request)
        let steps = ["request", "response", "redirect", "response", "body", "chunk", "data"]
        #expect(order.withLock { $0 } == steps.flatMap { ["1 \($0)", "2 \($0)"] })
    }

    @Test func downloaderAndRequestHooksMayBothRefuse() async throws {
        let transport = ScriptedTransport()
        let url = PipelineFixture.url("a")
        transport.answer(url, with: .data(Data("ab".utf8)))
        for isFirst in [true, false] {
            for (name, refusing) in Self.refusals {
                var configuration = ImageDownloader.Configuration(transport: transport)
                configuration.hooks = isFirst ? refusing : Self.passing
                var request = DownloadRequest(url: url)
                request.hooks = RequestHooks(id: "own", isFirst ? Self.passing : refusing)
                await #expect(throws: DownloadError(.refused(name), url: url, responseHeaders: headers(name))) {
                    try await ImageDownloader(configuration).download(request)
                }
            }
        }
    }

    private func headers(_ hook: String) -> HTTPHeaders {
        hook == "the request hook" ? HTTPHeaders() : ["Content-Length": "2"]
    }

    private static var passing: DownloadHooks {
        var hooks = DownloadHooks()
        hooks.request = { $0 }
        hooks.response = { $0 }
        hooks.wantsBody = { _ in true }
        hooks.data = { data, _ in data }
        return hooks
    }

    private static var refusals: [(String, DownloadHooks)] {
        var hooks = [DownloadHooks](repeating: DownloadHooks(), count: 4)
        hooks[0].request = { _ in nil }
        hooks[1].response = { _ in nil }
        hooks[2].wantsBody = { _ in false }
        hooks[3].data = { _, _ in nil }
        return Array(zip(["the request hook", "the response hook", "the body hook", "the data hook"], hooks))
    }

    @Test func failuresAreRememberedForTheirHooksAlone() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("a")
        fixture.transport.answer(url, with: .status(404), .data(try TestFiles.data("png/rgb8.png")))
        await #expect(throws: ImagePipelineError.self) {
            try await fixture.pipeline.image(for: request(url, naming("a")))
        }
        _ = try await fixture.pipeline.image(for: request(url, naming("b")))
        #expect(fixture.transport.requestCount == 2)
    }

    // MARK: The interceptor seam

    private struct Seam: DownloadInterceptor {
        let loads: Counter

        func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult {
            loads.increment()
            var result = try await next(request)
            result.data = RequestHooksTests.scrambled(result.data)
            return result
        }
    }

    @Test func anInterceptorCountsLoadsAndChangesWhatIsStored() async throws {
        let (transport, loads) = (ScriptedTransport(), Counter())
        var download = ImageDownloader.Configuration(transport: transport)
        download.interceptors = [Seam(loads: loads)]
        let fixture = PipelineFixture(transport: transport) { $0.downloader = ImageDownloader(download) }
        let plain = try TestFiles.data("png/rgb8.png")
        let url = PipelineFixture.url("a")
        transport.answer(url, with: .data(Self.scrambled(plain)))
        var request = ImageRequest(url)
        request.cachePolicy.writes = [.diskOriginal]
        let tasks = (0..<10).map { _ in fixture.pipeline.task(for: request) }
        for task in tasks { _ = try await task.response }
        await fixture.pipeline.configuration.cache.disk?.flush()
        _ = try await fixture.pipeline.image(for: request)
        #expect(transport.requestCount == 1)
        #expect(loads.value == 1)
    }

    @Test func defaultDownloaderSendsApplicationUserAgent() {
        let downloader = ImagePipeline.Configuration.defaultDownloader(application: "Shop", version: "2.1")
        #expect(downloader.defaultHeaders["User-Agent"] == "Shop/2.1 Halcyon/\(HalcyonVersion.current)")
        #expect(downloader.defaultHeaders["Accept"]?.contains("image/png") == true)
    }

    /// The `Accept` field of a request lists the formats that the pipeline's own registry decodes, as the server sees it.
    @Test func aServerIsToldWhatTheRegistryDecodes() async throws {
        let image = try TestFiles.data("png/rgb8.png")
        let server = try RawServer { connection in
            while connection.readRequest() != nil { try connection.answer(image) }
        }
        defer { server.stop() }
        let all = CoderRegistry.standard()
        let png = CoderRegistry(all.coders.filter { $0.formats == [.png] })
        #expect(png.decodableFormats == [.png])
        for coders in [all, png] {
            var configuration = ImagePipeline.Configuration.patient(cache: ImageCache(disk: nil), coders: coders)
            configuration.rememberedFailures = .none
            _ = try await ImagePipeline(configuration: configuration).image(for: server.url("/a"))
            let line = server.requests.last?.components(separatedBy: "\r\n").first { $0.hasPrefix("Accept: ") }
            let accepted = try #require(line?.dropFirst("Accept: ".count).components(separatedBy: ","))
            #expect(accepted == coders.decodableFormats.map(\.mimeType) + ["image/*;q=0.8", "*/*;q=0.5"])
        }
    }

    // MARK: Credentials

    @Test func aCredentialDoesNotGoToAnAlternative() async throws {
        let fixture = PipelineFixture()
        let (first, second) = (PipelineFixture.url("a"), URL(web: "http://elsewhere.test/b"))
        fixture.transport.answer(second, with: .data(try TestFiles.data("png/rgb8.png")))
        var request = ImageRequest(first)
        request.network.credential = .bearer("secret")
        request.alternatives = [.remote(second)]
        _ = try await fixture.pipeline.image(for: request)
        #expect(fixture.transport.requests.map { $0.headers["Authorization"] } == ["Bearer secret", nil])
    }

    @Test func digestCredentialRequiresSupportingTransport() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url)
        request.network.credential = .digest(user: "a", password: "b")
        await #expect {
            try await fixture.pipeline.image(for: request)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "invalidRequest"
        }
        #expect(fixture.transport.requestCount == 0)
    }
}
