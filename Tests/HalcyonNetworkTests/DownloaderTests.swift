import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DownloaderTests {
    private let fixture = DownloaderFixture()
    private let body = Data("picture".utf8)

    @Test func aDownloadIsWhatTheServerSent() async throws {
        fixture.transport.answer(fixture.url(), with: .data(body, headers: ["Content-Type": "image/png"]))
        let result = try await fixture.downloader.download(fixture.url())
        #expect(result.data == body)
        #expect(result.status == 200)
        #expect(result.url == fixture.url())
        #expect(result.headers["content-type"] == "image/png")
        #expect(result.metrics?.bytesReceived == 7)
        #expect((result.redirectCount, result.retryCount) == (0, 0))
        #expect(fixture.downloader.activeCount == 0)
    }

    @Test(arguments: ["", "no-scheme", "http://", "ftp://h/a", "file:///a"])
    func nonHTTPURLFailsAsInvalidRequest(_ text: String) async throws {
        guard let url = URL(string: text) else { return }
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(url) }
        #expect(error?.code == "invalidRequest")
        #expect(fixture.transport.requestCount == 0)
    }

    @Test(arguments: [200, 201, 203, 299])
    func everySuccessIsTaken(_ status: Int) async throws {
        fixture.transport.answer(fixture.url(), with: .data(body, status: status))
        #expect(try await fixture.downloader.download(fixture.url()).status == status)
    }

    @Test(arguments: [199, 206, 300, 304, 305, 400, 401, 403, 404, 410, 416, 500, 501])
    func everyOtherStatusIsAnErrorWithItsHeaders(_ status: Int) async throws {
        let hold = ScriptedTransportGate()
        let answer = ScriptedTransport.Answer(status: status, headers: ["X-Why": "x"], steps: [.wait(hold)])
        fixture.transport.answer(fixture.url(), with: answer)
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(fixture.url()) }
        #expect(error?.reason == .httpStatus(status))
        #expect(error?.code == "httpStatus")
        #expect(error?.responseHeaders["x-why"] == "x")
        // The body never came and was not waited for.
        try await fixture.transport.waitForCancellations(1)
    }

    @Test(arguments: ["If-None-Match", "If-Modified-Since"])
    func conditionalRequestAcceptsNotModified(_ field: String) async throws {
        fixture.transport.answer(
            fixture.url(), with: .status(304, headers: ["ETag": "\"1\"", "Content-Length": "700"]))
        let request = DownloadRequest(url: fixture.url(), headers: HTTPHeaders([.init(name: field, value: "\"1\"")]))
        let result = try await fixture.downloader.download(request)
        #expect(result.isNotModified)
        #expect(result.data.isEmpty)
        #expect(result.headers["ETag"] == "\"1\"")
    }

    @Test(arguments: [200, 204])
    func anEmptyBodyIsHandedOut(_ status: Int) async throws {
        fixture.transport.answer(fixture.url(), with: .data(Data(), status: status))
        #expect(try await fixture.downloader.download(fixture.url()).data.isEmpty)
    }

    @Test func aShortBodyIsAnErrorOnAnyTransport() async throws {
        fixture.transport.answer(
            fixture.url(), with: .init(headers: ["Content-Length": "10"], steps: [.chunk(body)]))
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(fixture.url()) }
        #expect(error?.reason == .incompleteBody(received: 7, expected: 10))
        #expect(error?.code == "connection")
    }

    @Test func rangeRequestAcceptsPartialContent() async throws {
        fixture.transport.answer(fixture.url(), with: .data(body, status: 206, headers: ["Content-Encoding": "gzip"]))
        let request = DownloadRequest(url: fixture.url(), headers: ["Range": "bytes=2-8"])
        let result = try await fixture.downloader.download(request)
        #expect(result.status == 206)
        #expect(result.data == body)
        #expect(fixture.transport.requests.last?.headers["Accept-Encoding"] == "identity")
    }

    @Test func progressFollowsTheChunks() async throws {
        let chunks = [Data(count: 10), Data(count: 20), Data(count: 30)]
        fixture.transport.answer(
            fixture.url(), with: .init(headers: ["Content-Length": "60"], steps: chunks.map { .chunk($0) }))
        let progress = Lock<[Int]>([])
        _ = try await fixture.downloader.download(DownloadRequest(url: fixture.url())) { value in
            #expect(value.expected == 60)
            progress.withLock { $0.append(value.received) }
        }
        #expect(progress.withLock { $0 } == [0, 10, 30, 60])
    }

    /// At most one report for each step, besides the ends and a body that begins anew; each download has its own step.
    @Test func progressComesInSteps() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        func reports(_ step: ProgressStep?) async throws -> [Int] {
            let tens = Array(repeating: ScriptedTransport.Answer.Step.chunk(Data(count: 10)), count: 10)
            let reset = DownloadError(.connection(.reset), url: fixture.url())
            let length: HTTPHeaders = ["Content-Length": "100"]
            fixture.transport.answer(
                fixture.url(), with: .init(headers: length, steps: tens.prefix(7) + [.fail(reset)]),
                .init(headers: length, steps: tens))
            let progress = Lock<[Int]>([])
            var request = DownloadRequest(url: fixture.url())
            request.progressStep = step
            let result = try await fixture.downloader.download(request) { value in
                progress.withLock { $0.append(value.received) }
            }
            #expect((result.data.count, result.retryCount) == (100, 1))
            return progress.withLock { $0 }
        }
        let all = [0, 10, 20, 30, 40, 50, 60, 70, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
        #expect(try await reports(nil) == all)
        #expect(try await reports(ProgressStep()) == all)
        #expect(try await reports(ProgressStep(fraction: 0.25)) == [0, 30, 60, 0, 30, 60, 90, 100])
        #expect(try await reports(ProgressStep(fraction: .infinity)) == [0, 100])
        // The clock of the fixture stands still.
        #expect(try await reports(ProgressStep(interval: .milliseconds(1))) == [0, 100])
    }

    @Test func downloadsInOtherStepsShareTheirTransfer() async throws {
        let gates = (0...2).map { _ in ScriptedTransportGate() }
        let steps = gates.flatMap { [ScriptedTransport.Answer.Step.wait($0), .chunk(Data(count: 10))] }
        fixture.transport.answer(fixture.url(), with: .init(headers: ["Content-Length": "30"], steps: steps))
        let (fine, coarse) = (Lock<[Int]>([]), Lock<[Int]>([]))
        async let first = fixture.downloader.download(DownloadRequest(url: fixture.url())) { value in
            fine.withLock { $0.append(value.received) }
        }
        while fine.withLock({ $0.last }) != 0 { await Task.yield() }
        var request = DownloadRequest(url: fixture.url())
        request.progressStep = ProgressStep(fraction: 1)
        async let second = fixture.downloader.download(request) { value in
            coarse.withLock { $0.append(value.received) }
        }
        while coarse.withLock({ $0.last }) != 0 { await Task.yield() }
        for gate in gates { gate.open() }
        #expect(try await (first.data.count, second.data.count) == (30, 30))
        #expect(fine.withLock { $0 } == [0, 10, 20, 30])
        #expect(coarse.withLock { $0 } == [0, 30])
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aStepOfProgressTakesAnyNumber() {
        func admitted(
            _ step: ProgressStep, of expected: Int?, interval: Duration = .milliseconds(10), _ values: [Int]
        ) -> [Int] {
            var gate = ProgressGate(step)
            return values.enumerated().filter { index, received in
                gate.admits(received, of: expected, at: .seconds(5) + interval * index)
            }.map(\.element)
        }
        let values = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        // Without a length, only the time is known.
        #expect(admitted(ProgressStep(fraction: 0.5), of: nil, values) == values)
        #expect(admitted(ProgressStep(fraction: 0.5, interval: .milliseconds(40)), of: nil, values) == [0, 4, 8])
        #expect(admitted(ProgressStep(fraction: 0.5), of: 10, values) == [0, 5, 10])
        #expect(admitted(ProgressStep(fraction: 0.5, interval: .milliseconds(70)), of: 10, values) == [0, 7, 10])
        for fraction in [-1, -Double.infinity, .nan, 0] {
            #expect(admitted(ProgressStep(fraction: fraction), of: 10, values) == values)
        }
        for interval in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
            #expect(admitted(ProgressStep(interval: interval), of: 10, values) == values)
        }
        #expect(admitted(ProgressStep(interval: .seconds(Int64.max)), of: 10, values) == [0, 10])
        #expect(admitted(ProgressStep(fraction: .greatestFiniteMagnitude), of: 10, values) == [0, 10])
        // A clock that is set back holds nothing up.
        #expect(admitted(ProgressStep(interval: .seconds(1)), of: 10, interval: .seconds(-1), values) == values)
        // Numbers that no server has.
        let extremes = [Int.max - 1, Int.min, Int.max]
        #expect(admitted(ProgressStep(fraction: 0.5), of: Int.max, extremes) == extremes)
    }

    // MARK: Limits of size

    @Test func aDeclaredLengthOverTheLimitIsRefusedAtTheHead() async throws {
        let hold = ScriptedTransportGate()
        fixture.transport.answer(
            fixture.url(), with: .init(headers: ["Content-Length": "101"], steps: [.wait(hold)]))
        let error = await #expect(throws: DownloadError.self) {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url(), maximumBytes: 100))
        }
        #expect(error?.reason == .tooLarge(limit: 100))
        try await fixture.transport.waitForCancellations(1)
    }

    @Test(arguments: [HTTPHeaders(), ["Content-Length": "50"], ["Content-Length": "1", "Content-Encoding": "br"]])
    func theLimitCountsWhatArrives(_ headers: HTTPHeaders) async throws {
        let chunks = [Data(count: 60), Data(count: 41), Data(count: 1)]
        fixture.transport.answer(fixture.url(), with: .init(headers: headers, steps: chunks.map { .chunk($0) }))
        let error = await #expect(throws: DownloadError.self) {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url(), maximumBytes: 100))
        }
        #expect(error?.reason == .tooLarge(limit: 100))
        try await fixture.transport.waitForCancellations(1)
    }

    @Test func aBodyOfExactlyTheLimitIsTaken() async throws {
        fixture.transport.answer(fixture.url(), with: .data(Data(count: 100)))
        let result = try await fixture.downloader.download(DownloadRequest(url: fixture.url(), maximumBytes: 100))
        #expect(result.data.count == 100)
    }

    // MARK: Header fields

    @Test func defaultsAreSentAndTheRequestsOwnWin() async throws {
        fixture.transport.answer(fixture.url(), with: .data(body))
        fixture.downloader.defaultHeaders["X-Default"] = "d"
        let request = DownloadRequest(url: fixture.url(), headers: ["user-agent": "mine", "X-Own": "o"])
        _ = try await fixture.downloader.download(request)
        let sent = try #require(fixture.transport.requests.first).headers
        #expect(sent["User-Agent"] == "mine")
        #expect(sent.values(of: "User-Agent").count == 1)
        #expect(sent["X-Default"] == "d")
        #expect(sent["X-Own"] == "o")
    }

    @Test func theUserAgentNamesProgramAndLibrary() {
        let headers = ImageDownloader.Configuration.defaultHeaders(
            application: "My App", version: "1.2", accept: "image/webp")
        #expect(headers["User-Agent"] == "My-App/1.2 Halcyon/\(HalcyonVersion.current)")
        #expect(headers["Accept"] == "image/webp")
    }

    @Test func theTransportGetsTheLimitsOfTime() async throws {
        fixture.transport.answer(fixture.url(), with: .data(body))
        let timeouts = DownloadTimeouts(connect: .seconds(1), idle: .seconds(2), total: .seconds(100_000))
        _ = try await fixture.downloader.download(DownloadRequest(url: fixture.url(), timeouts: timeouts))
        let request = try #require(fixture.transport.requests.first)
        #expect(request.connectTimeout == .seconds(1))
        #expect(request.idleTimeout == .seconds(2))
        let left = try #require(request.totalTimeout)
        #expect(left <= .seconds(100_000) && left > .seconds(90_000))
    }

    @Test func timeoutsOfADownloaderByDefault() async throws {
        let transport = ScriptedTransport()
        let downloader = ImageDownloader(ImageDownloader.Configuration(transport: transport))
        transport.answer(fixture.url(), with: .data(body))
        _ = try await downloader.download(fixture.url())
        let request = try #require(transport.requests.first)
        #expect(request.connectTimeout == .seconds(10))
        #expect(request.idleTimeout == .seconds(15))
        #expect(request.totalTimeout == nil)
        #expect(DownloadTimeouts().minimumRate == MinimumRate(bytesPerSecond: 100, over: .seconds(30)))
    }

    @Test func theTotalLimitBoundsTheWaitForATurn() async throws {
        let fixture = DownloaderFixture(perHost: 1)
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url("/blocker"), with: .data(Data()).held(by: gate))
        let blocker = Task { try await fixture.downloader.download(fixture.url("/blocker")) }
        try await fixture.transport.waitForRequests(1)
        let timeouts = DownloadTimeouts(total: .milliseconds(50))
        let error = await #expect(throws: DownloadError.self) {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url(), timeouts: timeouts))
        }
        #expect(error?.reason == .timeout(.total))
        #expect(fixture.downloader.waitingCount == 0)
        gate.open()
        _ = try await blocker.value
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func theWaitForATurnIsPartOfTheTotal() async throws {
        let fixture = DownloaderFixture(perHost: 1)
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url("/blocker"), with: .data(Data()).held(by: gate))
        fixture.transport.answer(fixture.url(), with: .data(body))
        let blocker = Task { try await fixture.downloader.download(fixture.url("/blocker")) }
        try await fixture.transport.waitForRequests(1)
        let timeouts = DownloadTimeouts(total: .seconds(1000))
        let waiting = Task {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url(), timeouts: timeouts))
        }
        while fixture.downloader.waitingCount == 0 { await Task.yield() }
        let start = ContinuousClock.now
        while start.duration(to: .now) < .milliseconds(100) { await Task.yield() }
        gate.open()
        _ = try await (blocker.value, waiting.value)
        let left = try #require(fixture.transport.requests.last?.totalTimeout)
        #expect(left <= .seconds(1000) - .milliseconds(100))
    }
}
