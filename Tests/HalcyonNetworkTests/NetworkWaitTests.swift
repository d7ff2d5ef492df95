import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct NetworkWaitTests {
    private static let url = URL(web: "http://one.test/a")
    private let monitor = ScriptedNetworkMonitor(NetworkStatus(isOnline: false))

    private func fixture(wait: Duration? = .seconds(30), retries: Int = 0) -> DownloaderFixture {
        DownloaderFixture(retry: RetryPolicy(maximumRetries: retries, networkWait: wait)) { [monitor] in
            $0.networkMonitor = monitor
        }
    }

    private func failure(_ reason: DownloadError.Reason) -> ScriptedTransport.Answer {
        .failure(DownloadError(reason, url: Self.url))
    }

    static let offline: [DownloadError.Reason] = [
        .offline, .connection(.hostNotFound), .connection(.unreachable),
    ]

    @Test(arguments: offline)
    func aDownloadWaitsForTheNetworkAndIsTriedOnceMore(_ reason: DownloadError.Reason) async throws {
        let fixture = fixture()
        fixture.transport.answer(Self.url, with: failure(reason), .data(Data("a".utf8)))
        let task = Task { try await fixture.downloader.download(Self.url) }
        try await monitor.waitForWaiters()
        #expect(fixture.transport.requestCount == 1)
        monitor.status = NetworkStatus()
        let result = try await task.value
        #expect(result.data == Data("a".utf8))
        #expect(result.retryCount == 1)
        #expect(monitor.limits == [.seconds(30)])
        #expect(fixture.delays.withLock { $0.isEmpty })
    }

    @Test func waitingDownloadFreesItsSlot() async throws {
        let fixture = DownloaderFixture(perHost: 1, retry: RetryPolicy(networkWait: .seconds(1))) { [monitor] in
            $0.networkMonitor = monitor
        }
        fixture.transport.answer(Self.url, with: failure(.offline), .data(Data()))
        let task = Task { try await fixture.downloader.download(Self.url) }
        try await monitor.waitForWaiters()
        #expect(fixture.downloader.runningCount == 0)
        #expect(fixture.downloader.activeCount == 1)
        monitor.status = NetworkStatus()
        _ = try await task.value
    }

    @Test func offlineDownloadFailsWithoutNetworkWait() async {
        let fixture = fixture(wait: nil, retries: 2)
        fixture.transport.answer(Self.url, with: failure(.offline))
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(error?.reason == .offline)
        #expect(monitor.limits.isEmpty)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aNetworkThatDoesNotComeBackEndsInTheFirstError() async throws {
        let fixture = fixture(retries: 2)
        fixture.transport.answer(Self.url, with: failure(.offline))
        let task = Task { try await fixture.downloader.download(Self.url) }
        try await monitor.waitForWaiters()
        monitor.giveUp()
        let error = await #expect(throws: DownloadError.self) { try await task.value }
        #expect(error?.reason == .offline)
        #expect(fixture.transport.requestCount == 1)
    }

    /// A monitor that reports a host as reachable that stays out of reach must not make a loop.
    @Test func downloadWaitsForNetworkOnlyOnce() async {
        monitor.status = NetworkStatus()
        let fixture = fixture(retries: 5)
        fixture.transport.answer(Self.url, with: failure(.offline))
        await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(fixture.transport.requestCount == 2)
        #expect(monitor.limits.count == 1)
    }

    @Test func anUnknownHostOnANetworkFailsAtOnce() async {
        monitor.status = NetworkStatus()
        let fixture = fixture(retries: 5)
        fixture.transport.answer(Self.url, with: failure(.connection(.hostNotFound)))
        await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aCancelEndsTheWait() async throws {
        let fixture = fixture()
        fixture.transport.answer(Self.url, with: failure(.offline), .data(Data()))
        let task = Task { try await fixture.downloader.download(Self.url) }
        try await monitor.waitForWaiters()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        while monitor.waiterCount > 0 { await Task.yield() }
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.downloader.activeCount == 0)
    }

    @Test func theTotalLimitBoundsTheWait() async throws {
        let fixture = fixture(wait: .seconds(3_000))
        fixture.transport.answer(Self.url, with: failure(.offline))
        let timeouts = DownloadTimeouts(total: .seconds(1_000))
        let task = Task {
            try await fixture.downloader.download(DownloadRequest(url: Self.url, timeouts: timeouts))
        }
        try await monitor.waitForWaiters()
        #expect(try #require(monitor.limits.first) <= .seconds(1_000))
        monitor.giveUp()
        await #expect(throws: DownloadError.self) { try await task.value }
    }

    @Test func theOrdinaryRetriesAreCountedApart() async throws {
        monitor.status = NetworkStatus()
        let fixture = fixture(retries: 1)
        fixture.transport.answer(Self.url, with: .status(503), failure(.offline), .data(Data()))
        #expect(try await fixture.downloader.download(Self.url).retryCount == 2)
    }
}
