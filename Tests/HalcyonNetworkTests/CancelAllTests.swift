import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CancelAllTests {
    /// `HALCYON_SOAK` runs the full count.
    private static let downloads = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 2_000 : 200_000

    /// Called again and again while others come: each of them ends once, with its body or cancelled.
    @Test func cancelAllEndsEachConcurrentDownloadOnce() async throws {
        let fixture = DownloaderFixture()
        let body = Data("picture".utf8)
        let urls = (0..<5).map { fixture.url("/\($0)") }
        for url in urls { fixture.transport.answer(url, with: .data(body)) }
        let (finished, cancelled) = (Counter(), Counter())
        let canceller = Task {
            while !Task.isCancelled {
                fixture.downloader.cancelAll()
                await Task.yield()
            }
        }
        await withTasks(Self.downloads) { index in
            do {
                #expect(try await fixture.downloader.download(urls[index % urls.count]).data == body)
                finished.increment()
            } catch {
                #expect(error is CancellationError)
                cancelled.increment()
            }
        }
        canceller.cancel()
        await canceller.value
        #expect(finished.value + cancelled.value == Self.downloads)
        #expect(fixture.downloader.subscriberCount == 0 && fixture.downloader.activeCount == 0)
        while fixture.downloader.runningCount > 0 { await Task.yield() }
        #expect(try await fixture.downloader.download(urls[0]).data == body)
    }

    @Test func downloadStartedAfterCancelAllFinishes() async throws {
        let fixture = DownloaderFixture()
        let body = Data("picture".utf8)
        fixture.transport.answer(fixture.url(), with: .data(body).held(by: ScriptedTransportGate()), .data(body))
        let first = Task { try await fixture.downloader.download(fixture.url()) }
        try await fixture.transport.waitForRequests(1)
        fixture.downloader.cancelAll()
        #expect(try await fixture.downloader.download(fixture.url()).data == body)
        await #expect(throws: CancellationError.self) { try await first.value }
    }
}
