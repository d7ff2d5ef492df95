import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AlternativeTests {
    private let monitor = ScriptedNetworkMonitor()
    private let url = PipelineFixture.url("first")

    private func fixture() -> PipelineFixture {
        let transport = ScriptedTransport()
        return PipelineFixture(transport: transport) { [monitor] in
            var download = ImageDownloader.Configuration(transport: transport)
            download.sleep = { _ in try Task.checkCancellation() }
            download.networkMonitor = monitor
            $0.downloader = ImageDownloader(download)
        }
    }

    private func request(_ alternatives: URL...) -> ImageRequest {
        var request = ImageRequest(url)
        request.alternatives = alternatives.map { .remote($0) }
        return request
    }

    @Test func theFirstThatHasAnImageStandsIn() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404))
        let broken = PipelineFixture.url("broken")
        fixture.transport.answer(broken, with: .data(Data("no image".utf8)))
        let good = try fixture.serve("png/rgb8.png")
        let never = PipelineFixture.url("never")
        let response = try await fixture.pipeline.response(for: request(broken, good, never))
        #expect(response.source == .remote(good))
        #expect(response.requestedSource == .remote(url))
        #expect(fixture.transport.requests.map(\.url) == [url, broken, good])
        #expect(try await response.data() == TestFiles.data("png/rgb8.png"))
    }

    @Test func eachIsKeptUnderItsOwnKey() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404), .data(try TestFiles.data("png/rgba8.png")))
        let good = try fixture.serve("png/rgb8.png")
        var request = request(good)
        request.cacheKey = "mine"
        request.cachePolicy.waitsForStore = true
        _ = try await fixture.pipeline.image(for: request)
        #expect(try await fixture.pipeline.response(for: ImageRequest(good)).origin == .memory)
        var cached = request
        cached.alternatives = []
        cached.cachePolicy.allowsNetwork = false
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: cached) }
    }

    @Test func aSourceInTheCacheNeedsNone() async throws {
        let fixture = fixture()
        let good = try fixture.serve("png/rgb8.png")
        fixture.transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png")))
        _ = try await fixture.pipeline.image(for: url)
        let response = try await fixture.pipeline.response(for: request(good))
        #expect(response.source == .remote(url))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func theyComeAfterTheRetries() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(503))
        let good = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: request(good))
        #expect(fixture.transport.requests.map(\.url) == [url, url, url, good])
    }

    @Test func theLastErrorTellsOfEachAttemptOfEachSource() async throws {
        let fixture = fixture()
        let reset = DownloadError(.connection(.reset), url: url)
        fixture.transport.answer(url, with: .failure(reset), .status(502), .status(503))
        let second = PipelineFixture.url("second?secret=1")
        fixture.transport.answer(second, with: .status(504), .status(404))
        let error = await #expect(throws: ImagePipelineError.self) {
            try await fixture.pipeline.image(for: request(second))
        }
        guard case .allSourcesFailed(_, let errors)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let attempts = errors.map { error -> [DownloadError.Reason] in
            guard case .download(_, let download) = error else { return [] }
            return download.earlierReasons + [download.reason]
        }
        let expected: [[DownloadError.Reason]] = [
            [.connection(.reset), .httpStatus(502), .httpStatus(503)], [.httpStatus(504), .httpStatus(404)],
        ]
        #expect(attempts == expected)
        let text = """
            http://images.test/first: http://images.test/first: the server answered with status 503 (attempt 3; before: \
            the connection was reset; the server answered with status 502); http://images.test/second: the server \
            answered with status 404 (attempt 2; before: the server answered with status 504)
            """
        #expect(error.map { "\($0)" } == text)
    }

    @Test func theLastErrorTellsOfEach() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404))
        let second = PipelineFixture.url("second?secret=1")
        fixture.transport.answer(second, with: .data(Data("no image".utf8)))
        var request = request(second)
        request.alternatives.append(.malformed("x", reason: "it is odd"))
        let error = await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
        guard case .allSourcesFailed(let source, let errors)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(source == "http://images.test/first")
        #expect(errors.map(\.code) == ["httpStatus", "notAnImage", "invalidRequest"])
        #expect(errors.map(\.source) == ["http://images.test/first", "http://images.test/second", "x"])
        #expect(error.map { "\($0)" }?.contains("secret") == false)
        #expect(error?.code == "allSourcesFailed")
    }

    @Test func aSourceWithoutAlternativesFailsAsItDid() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404))
        let error = await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: url) }
        #expect(error?.code == "httpStatus")
    }

    @Test func nothingIsTriedAfterACancellation() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404).held(by: ScriptedTransportGate()))
        let good = try fixture.serve("png/rgb8.png")
        let task = fixture.pipeline.task(for: request(good))
        try await fixture.transport.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.response }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        while await fixture.pipeline.runningCount > 0 { await Task.yield() }
        #expect(fixture.transport.requests.map(\.url) == [url])
    }

    /// The transfer is called off from elsewhere: a cancellation too, and no failure of the source.
    @Test func nothingIsTriedWhenTheDownloaderWasToldToStop() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404).held(by: ScriptedTransportGate()))
        let good = try fixture.serve("png/rgb8.png")
        let task = fixture.pipeline.task(for: request(good))
        try await fixture.transport.waitForRequests(1)
        fixture.pipeline.configuration.downloader.cancelAll()
        await #expect(throws: CancellationError.self) { try await task.response }
        #expect(fixture.transport.requests.map(\.url) == [url])
    }

    @Test func cancellingWhileAnAlternativeLoadsEndsIt() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404))
        let second = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let third = try fixture.serve("png/rgba8.png")
        let task = fixture.pipeline.task(for: request(second, third))
        try await fixture.transport.waitForRequests(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.response }
        try await fixture.transport.waitForCancellations(1)
        while await fixture.pipeline.runningCount > 0 { await Task.yield() }
        #expect(fixture.transport.requests.map(\.url) == [url, second])
    }

    @Test func aFileOrBytesMayStandIn() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404))
        var request = ImageRequest(url)
        request.alternatives = [.file(URL(filePath: "/nowhere/at.all")), .file(TestFiles.url("png/rgb8.png"))]
        #expect(try await fixture.pipeline.response(for: request).source == request.alternatives[1])
        request.alternatives = [.data(try TestFiles.data("png/rgba8.png"), key: "bytes")]
        #expect(try await fixture.pipeline.response(for: request).source == request.alternatives[0])
    }

    @Test func bytesHaveAlternativesToo() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404))
        let good = try fixture.serve("png/rgb8.png")
        #expect(try await fixture.pipeline.data(for: request(good)) == TestFiles.data("png/rgb8.png"))
    }

    @Test func secretsStayAtTheirOrigin() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .status(404))
        let near = PipelineFixture.url("near")
        let far = URL(web: "http://elsewhere.test/far")
        fixture.transport.answer(near, with: .status(404))
        fixture.transport.answer(far, with: .data(try TestFiles.data("png/rgb8.png")))
        var request = request(near, far)
        request.network.headers = ["Authorization": "Bearer x", "X-Plain": "y"]
        _ = try await fixture.pipeline.image(for: request)
        let sent = fixture.transport.requests
        #expect(sent.map { $0.headers["Authorization"] } == ["Bearer x", "Bearer x", nil])
        #expect(sent.map { $0.headers["X-Plain"] } == ["y", "y", "y"])
    }

    // MARK: - Low data

    @Test(arguments: [false, true])
    func aDearConnectionTakesTheSmallOne(_ isConstrained: Bool) async throws {
        let fixture = fixture()
        monitor.status = NetworkStatus(isConstrained: isConstrained)
        fixture.transport.answer(url, with: .data(try TestFiles.data("png/rgba8.png")))
        let small = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url)
        request.lowDataAlternative = .remote(small)
        let response = try await fixture.pipeline.response(for: request)
        #expect(response.source == .remote(isConstrained ? small : url))
        #expect(response.requestedSource == .remote(url))
        #expect(fixture.transport.requests.map(\.url) == [isConstrained ? small : url])
    }

    @Test func onADearConnectionTheCacheStillHasTheWholeOne() async throws {
        let fixture = fixture()
        fixture.transport.answer(url, with: .data(try TestFiles.data("png/rgba8.png")))
        var request = ImageRequest(url)
        request.cachePolicy.waitsForStore = true
        _ = try await fixture.pipeline.image(for: request)
        fixture.pipeline.cache.clearMemory()
        monitor.status = NetworkStatus(isConstrained: true)
        request.lowDataAlternative = .remote(try fixture.serve("png/rgb8.png"))
        #expect(try await fixture.pipeline.response(for: request).source == .remote(url))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func afterTheSmallOneTheAlternativesCome() async throws {
        let fixture = fixture()
        monitor.status = NetworkStatus(isConstrained: true)
        let small = PipelineFixture.url("small")
        let good = try fixture.serve("png/rgb8.png")
        var request = request(good)
        request.lowDataAlternative = .remote(small)
        #expect(try await fixture.pipeline.response(for: request).source == .remote(good))
        #expect(fixture.transport.requests.map(\.url) == [small, good])
    }
}
