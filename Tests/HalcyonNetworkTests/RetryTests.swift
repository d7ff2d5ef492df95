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
    func otherStatusesAreNot(_ status: Int) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .status(status), .data(body))
        await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(fixture.transport.requestCount == 1)
    }

    static let passing: [DownloadError.Reason] = [.connection(.reset), .timeout(.connect)]
    static let lasting: [DownloadError.Reason] = [
        .connection(.refused), .connection(.hostNotFound), .connection(.badAnswer), .timeout(.idle), .timeout(.total),
        .tls("x"), .offline, .tooLarge(limit: 1), .redirect(.loop), .incompleteBody(received: 1, expected: 2),
        .refusedAddress("10.0.0.1"),
    ]

    @Test(arguments: passing)
    func failuresThatMayPassAreRetried(_ reason: DownloadError.Reason) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .failure(DownloadError(reason, url: Self.url)), .data(body))
        #expect(try await fixture.downloader.download(Self.url).retryCount == 1)
    }

    @Test(arguments: lasting)
    func otherFailuresAreNot(_ reason: DownloadError.Reason) async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .failure(DownloadError(reason, url: Self.url)), .data(body))
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(error?.reason == reason)
        #expect(fixture.transport.requestCount == 1)
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
        let fixture = DownloaderFixture(retry: RetryPolicy())
        fixture.transport.answer(Self.url, with: .status(503, headers: ["Retry-After": "20"]), .data(body))
        let timeouts = DownloadTimeouts(total: .seconds(10))
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
