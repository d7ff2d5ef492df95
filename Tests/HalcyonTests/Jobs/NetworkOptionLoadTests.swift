import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// The network options of a request reach the downloader and its transport; those that are nil are the downloader's.
@Suite struct NetworkOptionLoadTests {
    /// Keeps the timeouts of the downloads that pass.
    private struct TimeoutRecorder: DownloadInterceptor {
        let seen = Lock<[DownloadTimeouts?]>([])

        func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult {
            seen.withLock { $0.append(request.timeouts) }
            return try await next(request)
        }
    }

    /// A pipeline whose downloader is configured by the test.
    private func fixture(_ configure: (inout ImageDownloader.Configuration) -> Void) throws -> (PipelineFixture, URL) {
        let transport = ScriptedTransport()
        var download = ImageDownloader.Configuration(transport: transport)
        download.sleep = { _ in try Task.checkCancellation() }
        configure(&download)
        let fixture = PipelineFixture(disk: false, transport: transport) { [download] in
            $0.downloader = ImageDownloader(download)
        }
        return (fixture, try fixture.serve("png/rgb8.png"))
    }

    @Test func aRequestsTimeoutsReachTheTransport() async throws {
        let (fixture, url) = try fixture {
            $0.timeouts = DownloadTimeouts(connect: .seconds(3), idle: .seconds(4), total: .seconds(5_000))
        }
        var request = ImageRequest(url)
        request.network.connectTimeout = .seconds(7)
        request.network.idleTimeout = .seconds(8)
        request.network.totalTimeout = .seconds(900)
        _ = try await fixture.pipeline.image(for: request)
        fixture.pipeline.cache.clearMemory()
        _ = try await fixture.pipeline.image(for: url)
        try #require(fixture.transport.requests.count == 2)
        let (own, usual) = (fixture.transport.requests[0], fixture.transport.requests[1])
        #expect(own.connectTimeout == .seconds(7))
        #expect(own.idleTimeout == .seconds(8))
        #expect(usual.connectTimeout == .seconds(3))
        #expect(usual.idleTimeout == .seconds(4))
        // The transport gets the time that is left.
        let (left, usuallyLeft) = (try #require(own.totalTimeout), try #require(usual.totalTimeout))
        #expect(left > .zero && left <= .seconds(900))
        #expect(usuallyLeft > .seconds(900) && usuallyLeft <= .seconds(5_000))
    }

    @Test func aRequestsLeastRateReachesTheDownloader() async throws {
        let recorder = TimeoutRecorder()
        let rate = MinimumRate(bytesPerSecond: 7, over: .seconds(11))
        let (fixture, url) = try fixture {
            $0.timeouts.minimumRate = .none
            $0.interceptors = [recorder]
        }
        var request = ImageRequest(url)
        request.network.minimumRate = rate
        _ = try await fixture.pipeline.image(for: request)
        fixture.pipeline.cache.clearMemory()
        _ = try await fixture.pipeline.image(for: url)
        #expect(recorder.seen.withLock { $0.map { $0?.minimumRate } } == [rate, MinimumRate.none])
    }

    /// The attempts of a request whose server answers with an error of its own, which is not retried by default.
    private func attempts(_ change: (inout NetworkOptions) -> Void) async throws -> Int {
        let (fixture, url) = try fixture { $0.retry = RetryPolicy(maximumRetries: 5) }
        fixture.transport.answer(url, with: .status(500))
        var request = ImageRequest(url)
        change(&request.network)
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
        return fixture.transport.requestCount
    }

    @Test func aRequestsRetryPolicyReplacesTheDownloaders() async throws {
        let own = RetryPolicy(maximumRetries: 2, failures: .extended)
        #expect(try await attempts { _ in } == 1)
        #expect(try await attempts { $0.retry = own } == 3)
        #expect(try await attempts { $0.retries = 4 } == 1)
        #expect(
            try await attempts {
                $0.retry = own
                $0.retries = 4
            } == 5)
        #expect(NetworkOptions(retry: own) != NetworkOptions())
    }
}
