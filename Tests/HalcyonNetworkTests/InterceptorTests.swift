import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct InterceptorTests {
    private struct Unwanted: Error, CustomStringConvertible { let description = "not from there" }

    private let body = Data("picture".utf8)

    private func fixture(_ interceptors: TestInterceptor...) -> DownloaderFixture {
        DownloaderFixture { $0.interceptors = interceptors }
    }

    @Test func interceptorRefusesURL() async throws {
        let fixture = fixture(
            TestInterceptor { request, next in
                guard request.url.host() != "ads.test" else { throw Unwanted() }
                return try await next(request)
            })
        let (good, bad) = (fixture.url(), fixture.url(host: "ads.test"))
        fixture.transport.answer(good, with: .data(body))
        await #expect(throws: DownloadError(.refused("an interceptor: not from there"), url: bad)) {
            try await fixture.downloader.download(bad)
        }
        #expect(fixture.transport.requestCount == 0)
        #expect(try await fixture.downloader.download(good).data == body)
    }

    @Test func firstInterceptorIsOutermost() async throws {
        let order = Lock<[String]>([])
        func noting(_ name: String) -> TestInterceptor {
            TestInterceptor { request, next in
                order.withLock { $0.append(name + " in") }
                defer { order.withLock { $0.append(name + " out") } }
                var request = request
                request.headers[name] = "1"
                return try await next(request)
            }
        }
        let fixture = fixture(noting("A"), noting("B"))
        fixture.transport.answer(fixture.url(), with: .data(body))
        _ = try await fixture.downloader.download(fixture.url())
        #expect(order.withLock { $0 } == ["A in", "B in", "B out", "A out"])
        let sent = try #require(fixture.transport.requests.first)
        #expect(sent.headers["A"] == "1" && sent.headers["B"] == "1")
    }

    @Test func interceptorAnswersWithoutTransfer() async throws {
        let fixture = fixture(TestInterceptor { [body] request, _ in DownloadResult(data: body, url: request.url) })
        let result = try await fixture.downloader.download(fixture.url())
        #expect(result.data == body)
        #expect(result.redirectCount == 0 && result.redirectsArePermanent && result.retryCount == 0)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func errorsOfDownloadsAndCancellationsGoOnAsTheyAre() async throws {
        let error = DownloadError(.offline, url: URL(web: "http://one.test/a"))
        let failing = fixture(TestInterceptor { _, _ in throw error })
        await #expect(throws: error) { try await failing.downloader.download(failing.url()) }
        let leaving = fixture(TestInterceptor { _, _ in throw CancellationError() })
        await #expect(throws: CancellationError.self) { try await leaving.downloader.download(leaving.url()) }
    }

    @Test func interceptedDownloadsShareOneTransfer() async throws {
        let passed = Counter()
        let fixture = fixture(
            TestInterceptor { request, next in
                passed.increment()
                return try await next(request)
            })
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: .data(body).held(by: gate))
        try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<100 { group.addTask { try await fixture.downloader.download(fixture.url()).data } }
            while fixture.downloader.subscriberCount < 100 { await Task.yield() }
            gate.open()
            for try await data in group { #expect(data == body) }
        }
        #expect(passed.value == 100)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func interceptorRetriesWithAnotherURL() async throws {
        let fixture = fixture(
            TestInterceptor { request, next in
                do {
                    return try await next(request)
                } catch let error as DownloadError where error.reason == .httpStatus(404) {
                    var other = request
                    other.url = URL(web: "http://two.test/a")
                    return try await next(other)
                }
            })
        fixture.transport.answer(fixture.url(host: "two.test"), with: .data(body))
        let seen = Lock<[Int]>([])
        let result = try await fixture.downloader.download(DownloadRequest(url: fixture.url())) { progress in
            seen.withLock { $0.append(progress.received) }
        }
        #expect(result.url == fixture.url(host: "two.test"))
        #expect(seen.withLock { $0 } == [0, 7])
    }

    // MARK: Cancelling

    /// Returns an interceptor that ignores cancellation: a cancellation must not wait for it.
    private func deaf(_ entered: ScriptedTransportGate, _ release: RawServerGate) -> TestInterceptor {
        TestInterceptor { request, next in
            entered.open()
            await release.opened()
            return try await next(request)
        }
    }

    @Test(arguments: ["task", "ticket", "url", "all"])
    func cancellationDoesNotWaitForInterceptors(way: String) async throws {
        let (entered, release) = (ScriptedTransportGate(), RawServerGate())
        let fixture = fixture(deaf(entered, release))
        let ticket = WorkTicket()
        let task = Task {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url("/a#part")), ticket: ticket)
        }
        try await entered.wait()
        switch way {
        case "task": task.cancel()
        case "ticket": ticket.cancel()
        case "url": fixture.downloader.cancel(fixture.url())
        default: fixture.downloader.cancelAll()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        release.open()
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func aCancelledTransferEndsWithItsCaller() async throws {
        let fixture = fixture(TestInterceptor { request, next in try await next(request) })
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: .data(body).held(by: gate))
        let task = Task { try await fixture.downloader.download(fixture.url()) }
        try await fixture.transport.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await fixture.transport.waitForCancellations(1)
    }

    @Test func aTicketThatIsCancelledAlreadyStartsNothing() async {
        let entered = ScriptedTransportGate()
        let fixture = fixture(deaf(entered, RawServerGate()))
        let ticket = WorkTicket()
        ticket.cancel()
        await #expect(throws: CancellationError.self) {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url()), ticket: ticket)
        }
        #expect(!entered.isOpen)
    }
}
