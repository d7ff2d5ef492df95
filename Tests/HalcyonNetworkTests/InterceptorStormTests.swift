import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Calls within interceptors, cancelled in every way at every moment.
@Suite(.timeLimit(.minutes(5)))
struct InterceptorStormTests {
    private static let rounds = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == "1" ? 20_000 : 400

    /// An object that reports its release.
    private final class Token: Sendable {
        let living: Counter
        init(_ living: Counter) {
            self.living = living
            living.increment()
        }
        deinit { living.decrement() }
    }

    private final class Counter: Sendable {
        private let count = Lock(0)
        var value: Int { count.withLock { $0 } }
        func increment() { count.withLock { $0 += 1 } }
        func decrement() { count.withLock { $0 -= 1 } }
    }

    @Test func everyCallEndsOnceAndLeavesNothing() async throws {
        let living = Counter()
        let ends = Counter()
        let refresher = CredentialRefresher(origin: URL(web: "http://one.test")) { _ in
            await Task.yield()
            return .bearer("new")
        }
        let transport = ScriptedTransport { request in
            request.headers["Authorization"] == nil ? .status(401) : .data(Data([7]))
        }
        var downloader: ImageDownloader? = {
            var configuration = ImageDownloader.Configuration(transport: transport)
            configuration.retry = .never
            let watcher = TestInterceptor { request, next in
                let token = Token(living)
                defer { withExtendedLifetime(token) {} }
                await Task.yield()
                return try await next(request)
            }
            configuration.interceptors = [watcher, refresher]
            return ImageDownloader(configuration)
        }()
        weak let gone = downloader
        try await { [downloader] in
            let downloader = try #require(downloader)
            await withTaskGroup { group in
                for index in 0..<Self.rounds {
                    group.addTask { await Self.run(index, downloader, ends) }
                }
            }
            while downloader.runningCount > 0 { await Task.yield() }
        }()
        #expect(ends.value == Self.rounds)
        // A call that was called off ends at once; its interceptors by and by.
        while living.value > 0 { await Task.yield() }
        downloader = nil
        while gone != nil { await Task.yield() }
        // The refresher still serves others.
        refresher.credential = .bearer("newer")
        #expect(refresher.credential == .bearer("newer"))
    }

    private static func run(_ index: Int, _ downloader: ImageDownloader, _ ends: Counter) async {
        let url = URL(web: "http://one.test/\(index % 7)")
        let ticket = WorkTicket()
        let task = Task { try await downloader.download(DownloadRequest(url: url), ticket: ticket) }
        for _ in 0..<(index % 11) { await Task.yield() }
        switch index % 6 {
        case 0: task.cancel()
        case 1: ticket.cancel()
        case 2: downloader.cancel(url)
        case 3 where index % 60 == 3: downloader.cancelAll()
        case 4:
            ticket.cancel()
            task.cancel()
        default: break
        }
        do {
            _ = try await task.value
        } catch {
            if !(error is CancellationError) { Issue.record(error) }
        }
        ends.increment()
    }
}
