import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PriorityTests {
    /// One transfer runs and is held; the others wait in the order of their requests.
    private struct Queue {
        let fixture: DownloaderFixture
        let gate = ScriptedTransportGate()
        let blocker: Task<DownloadResult, any Error>

        init(perHost: Int = 1, total: Int = 24) async throws {
            fixture = DownloaderFixture(perHost: perHost, total: total)
            let (fixture, gate) = (fixture, gate)
            fixture.transport.answer(fixture.url("/blocker"), with: .data(Data()).held(by: gate))
            blocker = Task { try await fixture.downloader.download(fixture.url("/blocker")) }
            try await fixture.transport.waitForRequests(1)
        }

        func add(
            _ path: String, _ priority: RequestPriority, host: String = "one.test", ticket: WorkTicket? = nil
        ) async -> Task<DownloadResult, any Error> {
            fixture.transport.answer(fixture.url(path, host: host), with: .data(Data()))
            let before = fixture.downloader.waitingCount
            let request = DownloadRequest(url: fixture.url(path, host: host), priority: priority)
            let fixture = fixture
            let task = Task { try await fixture.downloader.download(request, ticket: ticket) }
            while fixture.downloader.waitingCount == before { await Task.yield() }
            return task
        }

        func finish(_ tasks: [Task<DownloadResult, any Error>]) async throws -> [String] {
            gate.open()
            _ = try await blocker.value
            for task in tasks { _ = try? await task.value }
            return fixture.transport.requests.dropFirst().map { $0.url.path() }
        }
    }

    @Test func transfersAreOrderedByPriorityThenAge() async throws {
        let queue = try await Queue()
        var tasks: [Task<DownloadResult, any Error>] = []
        let asked: [(String, RequestPriority)] = [
            ("/n1", .normal), ("/vl", .veryLow), ("/l", .low), ("/n2", .normal), ("/vh", .veryHigh), ("/h", .high),
            ("/n3", .normal),
        ]
        for (path, priority) in asked { tasks.append(await queue.add(path, priority)) }
        #expect(try await queue.finish(tasks) == ["/vh", "/h", "/n1", "/n2", "/n3", "/l", "/vl"])
    }

    @Test func aTicketMovesWhatWaits() async throws {
        let queue = try await Queue()
        let (raised, lowered) = (WorkTicket(), WorkTicket(priority: .high))
        let tasks = [
            await queue.add("/1", .normal),
            await queue.add("/lowered", .normal, ticket: lowered),
            await queue.add("/raised", .normal, ticket: raised),
            await queue.add("/2", .normal),
        ]
        raised.priority = .veryHigh
        lowered.priority = .veryLow
        #expect(try await queue.finish(tasks) == ["/raised", "/1", "/2", "/lowered"])
    }

    @Test func lastOfConcurrentPriorityChangesCounts() async throws {
        for _ in 0..<40 {
            let queue = try await Queue()
            let ticket = WorkTicket()
            // Many that listen, so that the two setters meet among them.
            var tasks: [Task<DownloadResult, any Error>] = []
            for index in 0..<30 { tasks.append(await queue.add("/moved\(index)", .normal, ticket: ticket)) }
            tasks.append(await queue.add("/1", .normal))
            await withTaskGroup { group in
                for priority in [RequestPriority.high, .low] { group.addTask { ticket.priority = priority } }
            }
            let order = try await queue.finish(tasks)
            #expect(order.firstIndex(of: "/1") == (ticket.priority == .high ? 30 : 0))
        }
    }

    @Test func sharedTransferUsesHighestPriority() async throws {
        let queue = try await Queue()
        var tasks = [await queue.add("/1", .normal), await queue.add("/shared", .low)]
        let ticket = WorkTicket(priority: .low)
        let fixture = queue.fixture
        tasks.append(
            Task { try await fixture.downloader.download(DownloadRequest(url: fixture.url("/shared")), ticket: ticket) }
        )
        while fixture.downloader.subscriberCount < 4 { await Task.yield() }
        ticket.priority = .high
        #expect(try await queue.finish(tasks) == ["/shared", "/1"])
    }

    @Test func cancelledSubscriberNoLongerRaisesPriority() async throws {
        let queue = try await Queue()
        var tasks = [await queue.add("/shared", .low), await queue.add("/1", .normal)]
        let fixture = queue.fixture
        let urgent = WorkTicket(priority: .high)
        tasks.append(
            Task { try await fixture.downloader.download(DownloadRequest(url: fixture.url("/shared")), ticket: urgent) }
        )
        while fixture.downloader.subscriberCount < 4 { await Task.yield() }
        urgent.cancel()
        #expect(try await queue.finish(tasks) == ["/1", "/shared"])
    }

    @Test func aCancelledWaiterIsNeverSent() async throws {
        let queue = try await Queue()
        let ticket = WorkTicket()
        let tasks = [await queue.add("/gone", .normal, ticket: ticket), await queue.add("/1", .normal)]
        ticket.cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(try await queue.finish(tasks) == ["/1"])
    }

    @Test func aBusyHostDoesNotHoldUpAnother() async throws {
        let queue = try await Queue(perHost: 1, total: 2)
        let fixture = queue.fixture
        let waiting = await queue.add("/1", .veryHigh)
        fixture.transport.answer(fixture.url("/2", host: "two.test"), with: .data(Data()))
        _ = try await fixture.downloader.download(fixture.url("/2", host: "two.test"))
        #expect(try await queue.finish([waiting]) == ["/2", "/1"])
    }

    @Test(arguments: [(6, 24, 6), (30, 4, 4)])
    func noMoreRunAtOnceThanAllowed(perHost: Int, total: Int, expected: Int) async throws {
        let fixture = DownloaderFixture(perHost: perHost, total: total)
        let gate = ScriptedTransportGate()
        var tasks: [Task<DownloadResult, any Error>] = []
        for index in 0..<20 {
            fixture.transport.answer(fixture.url("/\(index)"), with: .data(Data()).held(by: gate))
            tasks.append(Task { try await fixture.downloader.download(fixture.url("/\(index)")) })
        }
        try await fixture.transport.waitForRequests(expected)
        while fixture.downloader.waitingCount < 20 - expected { await Task.yield() }
        #expect(fixture.transport.requestCount == expected)
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(fixture.transport.requestCount == 20)
    }

    /// The limits that the program does not set: 6 transfers for each host, 24 in all, and 24 slow ones besides.
    @Test(arguments: [(1, 6), (30, 24)]) func limitsOfADownloaderByDefault(hosts: Int, expected: Int) async throws {
        let transport = ScriptedTransport()
        let downloader = ImageDownloader(ImageDownloader.Configuration(transport: transport))
        let (gate, count) = (ScriptedTransportGate(), 30)
        var tasks: [Task<DownloadResult, any Error>] = []
        for index in 0..<count {
            let url = URL(web: "http://host-\(index % hosts).test/\(index)")
            transport.answer(url, with: .data(Data()).held(by: gate))
            tasks.append(Task { try await downloader.download(url) })
        }
        try await transport.waitForRequests(expected)
        while downloader.waitingCount < count - expected { await Task.yield() }
        #expect(transport.requestCount == expected)
        #expect(downloader.configuration.slowTransfers == 24)
        gate.open()
        for task in tasks { _ = try await task.value }
    }

    /// The priority is that of all hosts: with room for one transfer, the most urgent host is next, and not the first asked.
    @Test(arguments: [["one.test", "two.test", "three.test"], ["three.test", "one.test", "two.test"]])
    func thePriorityOrdersHostsToo(_ hosts: [String]) async throws {
        let queue = try await Queue(perHost: 1, total: 1)
        let tasks = [
            await queue.add("/low", .low, host: hosts[0]), await queue.add("/normal", .normal, host: hosts[1]),
            await queue.add("/high", .high, host: hosts[2]),
        ]
        #expect(try await queue.finish(tasks) == ["/high", "/normal", "/low"])
    }
}
