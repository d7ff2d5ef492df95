import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RetryDelayTests {
    private static let url = URL(web: "http://one.test/a")

    /// The waits of a download that fails each time.
    private func delays(_ delay: RetryDelay, retries: Int) async -> [Duration] {
        let fixture = DownloaderFixture(retry: RetryPolicy(maximumRetries: retries, delay: delay))
        fixture.transport.answer(Self.url, with: .status(503))
        await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        let delays = fixture.delays.withLock { $0 }
        #expect(fixture.transport.requestCount == delays.count + 1)
        return delays
    }

    @Test func theDelaysOfEachKind() async {
        #expect(await delays(.fixed(.seconds(3)), retries: 3) == [.seconds(3), .seconds(3), .seconds(3)])
        #expect(await delays(.accumulating(.seconds(2)), retries: 3) == [.seconds(2), .seconds(4), .seconds(6)])
        #expect(
            await delays(.backoff(base: .seconds(1), maximum: .seconds(3)), retries: 3)
                == [.seconds(1), .seconds(2), .seconds(3)])
        #expect(
            await delays(.custom("squares") { _, retries in .seconds(retries * retries) }, retries: 4)
                == [.zero, .seconds(1), .seconds(4), .seconds(9)])
    }

    @Test func aCustomDelayCanEndItAndSeesTheFailure() async {
        let seen = Lock<[Int]>([])
        let delay = RetryDelay.custom("twice") { error, retries in
            if case .httpStatus(let status) = error.reason { seen.withLock { $0.append(status) } }
            return retries < 2 ? .seconds(1) : nil
        }
        #expect(await delays(delay, retries: 100) == [.seconds(1), .seconds(1)])
        #expect(seen.withLock { $0 } == [503, 503, 503])
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(-1)])
    func absurdDelaysAreNoLongerThanAYearAndNoShorterThanNothing(_ absurd: Duration) async {
        let kinds: [RetryDelay] = [
            .fixed(absurd), .accumulating(absurd), .backoff(base: absurd, maximum: absurd),
            .custom("absurd") { _, _ in absurd },
        ]
        for kind in kinds {
            let waited = await delays(kind, retries: 40)
            #expect(waited.count == 40)
            #expect(waited.allSatisfy { $0 >= .zero && $0 <= .seconds(365 * 86_400) })
        }
    }

    @Test func theServersWishComesBeforeTheDelay() async {
        let fixture = DownloaderFixture(retry: RetryPolicy(maximumRetries: 1, delay: .fixed(.seconds(3))))
        fixture.transport.answer(Self.url, with: .status(503, headers: ["Retry-After": "7"]))
        _ = try? await fixture.downloader.download(Self.url)
        #expect(fixture.delays.withLock { $0 } == [.seconds(7)])
    }

    @Test func aCustomDelayIsAskedAboutEveryFailure() async throws {
        let seen = Lock<[DownloadError.Reason]>([])
        let policy = RetryPolicy(
            maximumRetries: 10,
            delay: .custom("until refused") { error, _ in
                seen.withLock { $0.append(error.reason) }
                return error.reason == .httpStatus(403) ? nil : .seconds(1)
            }, failures: RetryableFailures(statuses: []))
        let fixture = DownloaderFixture(retry: policy)
        let reasons: [DownloadError.Reason] = [.tls("x"), .timeout(.idle), .connection(.hostNotFound)]
        let failures = reasons.map { ScriptedTransport.Answer.failure(DownloadError($0, url: Self.url)) }
        fixture.transport.answer(
            Self.url, with: .status(404), failures[0], failures[1], failures[2], .status(403), .data(Data()))
        let error = await #expect(throws: DownloadError.self) { try await fixture.downloader.download(Self.url) }
        #expect(error?.reason == .httpStatus(403))
        #expect(seen.withLock { $0 } == [.httpStatus(404)] + reasons + [.httpStatus(403)])
        #expect(fixture.transport.requestCount == 5)
        #expect(fixture.delays.withLock { $0 } == Array(repeating: .seconds(1), count: 4))
    }

    @Test(arguments: [("3", Duration.seconds(5)), ("7", .seconds(7)), ("31", nil)] as [(String, Duration?)])
    func theLongerOfACustomDelayAndTheServersWishCounts(_ asked: String, _ delay: Duration?) async {
        let fixture = DownloaderFixture(
            retry: RetryPolicy(maximumRetries: 1, delay: .custom("five") { _, _ in .seconds(5) }))
        fixture.transport.answer(Self.url, with: .status(503, headers: ["Retry-After": asked]))
        _ = try? await fixture.downloader.download(Self.url)
        #expect(fixture.delays.withLock { $0 } == [delay].compactMap { $0 })
        #expect(fixture.transport.requestCount == (delay == nil ? 1 : 2))
    }

    @Test func equalsAreOfTheSameKindAndNumbers() {
        let all: [RetryDelay] = [
            .fixed(.seconds(1)), .fixed(.seconds(2)), .accumulating(.seconds(1)), .backoff(),
            .backoff(base: .seconds(1)), .backoff(maximum: .seconds(1)), .custom("a") { _, _ in nil },
            .custom("b") { _, _ in nil },
        ]
        #expect(Set(all).count == all.count)
        #expect(RetryDelay.custom("a") { _, _ in nil } == .custom("a") { _, _ in .zero })
        #expect(RetryPolicy(delay: .fixed(.seconds(1))) != RetryPolicy())
        #expect(RetryPolicy(failures: .extended) != RetryPolicy())
    }

    @Test func downloadsWithOtherDelaysShareNoTransfer() async throws {
        let fixture = DownloaderFixture()
        let gate = ScriptedTransportGate()
        fixture.transport.answer(Self.url, with: .data(Data()).held(by: gate))
        let tasks = ["a", "a", "b"].map { name in
            Task {
                try await fixture.downloader.download(
                    DownloadRequest(url: Self.url, retry: RetryPolicy(delay: .custom(name) { _, _ in nil })))
            }
        }
        while fixture.downloader.subscriberCount < 3 { await Task.yield() }
        #expect(fixture.downloader.activeCount == 2)
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aBackoffBeginsWithAQuarterOfASecondByDefault() {
        #expect(RetryDelay.backoff() == .backoff(base: .milliseconds(250), maximum: .seconds(10)))
    }
}
