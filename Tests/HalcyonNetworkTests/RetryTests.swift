import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RetryTests {
    private static let url = URL(web: "http://one.test/a")
    private let body = Data("picture".utf8)

    @Test(arguments: [408, 429, 502, 503, 504])
    func statusesThatMayPassAreRetried(_ status: Int) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .status(status), .status(status), .data(body))
        let result = try await fixture.downloader.download(Self.url)
        #expect(result.data == body)
        #expect(result.retryCount == 2)
        #expect(fixture.delays.withLock { $0 } == [.milliseconds(250), .milliseconds(500)])
    }

    @Test(arguments: [400, 401, 403, 404, 410, 416, 425, 500, 501, 505])
    func permanentStatusesAreNotRetried(_ status: Int) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .status(status), .data(body))
        await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(fixture.transport.requestCount == 1)
    }

    static let passing: [DownloadError.Reason] = [
        .connection(.reset), .timeout(.connect), .incompleteBody(received: 1, expected: 2),
        .incompleteBody(received: 1, expected: nil),
    ]
    static let lasting: [DownloadError.Reason] = [
        .connection(.refused), .connection(.hostNotFound), .connection(.badAnswer), .timeout(.idle), .timeout(.total),
        .tls("x"), .offline, .tooLarge(limit: 1), .redirect(.loop), .refusedAddress("10.0.0.1"),
        .connection(.badEncoding),
    ]

    @Test(arguments: passing)
    func failuresThatMayPassAreRetried(_ reason: DownloadError.Reason) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .failure(DownloadError(reason, url: Self.url)), .data(body))
        #expect(try await fixture.downloader.download(Self.url).retryCount == 1)
    }

    @Test(arguments: lasting)
    func permanentFailuresAreNotRetried(_ reason: DownloadError.Reason) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .failure(DownloadError(reason, url: Self.url)), .data(body))
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(error?.reason == reason)
        #expect(fixture.transport.requestCount == 1)
    }

    /// The failures that only a configuration makes retryable, and one that it does not.
    static let configured: [(DownloadError.Reason, Bool)] = [
        (.timeout(.idle), true), (.connection(.refused), true), (.connection(.hostNotFound), true),
        (.connection(.reset), true), (.httpStatus(500), true), (.httpStatus(501), true), (.httpStatus(429), true),
        (.httpStatus(404), false), (.timeout(.minimumRate), false), (.tls("x"), false),
    ]

    @Test(arguments: configured)
    func theConfigurationSaysWhatIsRetried(_ reason: DownloadError.Reason, _ isRetried: Bool) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy(failures: .extended))
        let failure = ScriptedTransport.Answer.failure(DownloadError(reason, url: Self.url))
        fixture.transport.answer(Self.url, with: failure, .data(body))
        let result = try? await fixture.downloader.download(Self.url)
        #expect((result?.retryCount == 1) == isRetried)
        #expect(fixture.transport.requestCount == (isRetried ? 2 : 1))
    }

    @Test func aConfigurationMayRetryLess() async throws {
        let none = RetryableFailures(statuses: [418], timeouts: [], connections: [], incompleteBodies: false)
        for reason in Self.passing + [.httpStatus(503)] {
            let fixture = DownloaderFixture(retry: RetryPolicy(failures: none))
            fixture.transport.answer(Self.url, with: .failure(DownloadError(reason, url: Self.url)), .data(body))
            let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
            #expect(error?.reason == reason)
        }
        let fixture = DownloaderFixture(retry: RetryPolicy(failures: none))
        fixture.transport.answer(Self.url, with: .status(418), .data(body))
        #expect(try await fixture.downloader.download(Self.url).retryCount == 1)
    }

    @Test func aBodyThatEndsTooEarlyIsAskedForAgain() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        let short = ScriptedTransport.Answer(headers: ["Content-Length": "7"], steps: [.chunk(body.prefix(3))])
        fixture.transport.answer(Self.url, with: short, short, .data(body))
        let result = try await fixture.downloader.download(Self.url)
        #expect(result.data == body)
        #expect(result.retryCount == 2)
        fixture.transport.answer(Self.url, with: short, .data(body))
        let never = DownloadRequest(url: Self.url, retry: .never)
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(never) }
        #expect(error?.reason == .incompleteBody(received: 3, expected: 7))
    }

    /// A body that was complete would arrive the same again; one that broke off may not.
    @Test func aPackedBodyThatIsCutIsAskedForAgainUnlessAllOfItCame() async throws {
        let packed = Packing.gzip.pack(body)
        for (length, count) in [("\(packed.count - 1)", 1), (nil, 2)] as [(String?, Int)] {
            let fixture = DownloaderFixture(retry: RetryPolicy())
            var cut = ScriptedTransport.Answer(
                headers: ["Content-Encoding": "gzip"], steps: [.chunk(Data(packed.dropLast()))])
            cut.headers["Content-Length"] = length
            fixture.transport.answer(Self.url, with: cut, .data(body))
            _ = try? await fixture.downloader.download(Self.url)
            #expect(fixture.transport.requestCount == count)
        }
    }

    @Test func aBodyThatIsTooLargeIsNotAskedForAgain() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .init(steps: [.chunk(body)]), .data(Data()))
        let request = DownloadRequest(url: Self.url, maximumBytes: 6)
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(request) }
        #expect(error?.reason == .tooLarge(limit: 6))
        #expect(fixture.transport.requestCount == 1)
    }

    // MARK: The last error

    @Test func theLastErrorTellsOfEachAttempt() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy(maximumRetries: 3))
        fixture.transport.answer(
            Self.url, with: .status(503), .failure(DownloadError(.connection(.reset), url: Self.url)), .status(404))
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(error?.reason == .httpStatus(404))
        #expect(error?.earlierReasons == [.httpStatus(503), .connection(.reset)])
        #expect(error?.attempts == 3)
        #expect(
            error?.description == "one.test/a: the server answered with status 404 (attempt 3; before: "
                + "the server answered with status 503; the connection was reset)")
    }

    @Test func errorOfSingleAttemptListsNoOthers() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(error == DownloadError(.httpStatus(404), url: Self.url))
        #expect(error?.attempts == 1)
        #expect(error?.description == "one.test/a: the server answered with status 404")
    }

    @Test func errorListsLastFailedAttempts() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy(maximumRetries: 1000))
        let reset = ScriptedTransport.Answer.failure(DownloadError(.connection(.reset), url: Self.url))
        fixture.transport.answer(Self.url, with: reset, .status(502), .status(503))
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(error?.attempts == 1001)
        #expect(error?.earlierReasons == Array(repeating: .httpStatus(503), count: 8))
        #expect(error?.description.contains("(attempt 1001; the last before: the server") == true)
        #expect((error?.description.utf8.count ?? .max) < 500)
    }

    @Test(arguments: [0, 1, 5])
    func theLastErrorIsThrownAfterTheLastRetry(_ retries: Int) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy(maximumRetries: retries))
        fixture.transport.answer(Self.url, with: .status(503))
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(error?.reason == .httpStatus(503))
        #expect(fixture.transport.requestCount == retries + 1)
    }

    @Test func aRequestsOwnPolicyWins() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .status(503))
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader.download(DownloadRequest(url: Self.url, retry: .never))
        }
        #expect(fixture.transport.requestCount == 1)
    }

    static let retryAfter: [(String, Duration?)] = [
        ("0", .zero), ("7", .seconds(7)), ("30", .seconds(30)), ("31", nil), ("86400", nil),
        ("Thu, 01 Jan 1970 00:00:20 GMT", .seconds(20)), ("Thu, 01 Jan 1970 00:01:00 GMT", nil),
        ("Wed, 31 Dec 1969 00:00:00 GMT", .zero), ("soon", .milliseconds(250)), ("-5", .zero),
    ]

    @Test(arguments: retryAfter)
    func theServersWishIsHonoured(_ value: String, _ delay: Duration?) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .status(503, headers: ["Retry-After": value]), .data(body))
        _ = try? await fixture.downloader.download(Self.url)
        #expect(fixture.delays.withLock { $0.first } == delay)
        #expect(fixture.transport.requestCount == (delay == nil ? 1 : 2))
    }

    @Test func delaysAreDrawnBelowABoundThatDoublesAndEnds() {
        let policy = RetryPolicy(maximumRetries: 100, delay: .backoff(maximum: .seconds(1)))
        let error = DownloadError(.connection(.reset), url: Self.url)
        func delay(_ retries: Int, _ jitter: Double) -> Duration? {
            policy.delay(after: error, retries: retries, jitter: jitter, now: Date())
        }
        #expect(delay(0, 0) == .zero)
        #expect(delay(0, 0.5) == .milliseconds(125))
        #expect(delay(1, 1) == .milliseconds(500))
        #expect(delay(2, 1) == .seconds(1))
        #expect(delay(90, 1) == .seconds(1))
        #expect(delay(100, 1) == nil)
    }

    @Test func noRetryBeginsThatWouldPassTheTotalLimit() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy(maximumRetryAfter: .seconds(3_000)))
        fixture.transport.answer(Self.url, with: .status(503, headers: ["Retry-After": "2000"]), .data(body))
        let timeouts = DownloadTimeouts(total: .seconds(1_000))
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader.download(DownloadRequest(url: Self.url, timeouts: timeouts))
        }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aCancelEndsTheWaitBetweenAttempts() async throws {
        let transport = ScriptedTransport()
        let (waiting, never) = (ScriptedTransportGate(), ScriptedTransportGate())
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.sleep = { _ in
            waiting.open()
            try await never.wait()
        }
        let downloader = ImageDownloader(configuration)
        transport.answer(Self.url, with: .status(503), .data(body))
        let task = Task { try await downloader.download(Self.url) }
        try await waiting.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requestCount == 1)
    }
}
