import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct QueueTests {
    private typealias Download = Task<DownloadResult, any Error>

    /// Requests a URL, and returns once the transfer waits for its turn.
    private func add(_ path: String, to fixture: DownloaderFixture, ticket: WorkTicket? = nil) async -> Download {
        let before = fixture.downloader.waitingCount
        let task = start(path, fixture, ticket: ticket)
        while fixture.downloader.waitingCount == before { await Task.yield() }
        return task
    }

    private func start(_ path: String, _ fixture: DownloaderFixture, ticket: WorkTicket? = nil) -> Download {
        fixture.transport.answer(fixture.url(path), with: .data(Data()))
        return Task { try await fixture.downloader.download(DownloadRequest(url: fixture.url(path)), ticket: ticket) }
    }

    private func held(_ path: String, _ fixture: DownloaderFixture, by gate: ScriptedTransportGate) async throws
        -> Download
    {
        let before = fixture.transport.requestCount
        fixture.transport.answer(fixture.url(path), with: .data(Data()).held(by: gate))
        let task = Task { try await fixture.downloader.download(fixture.url(path)) }
        try await fixture.transport.waitForRequests(before + 1)
        return task
    }

    private func paths(_ fixture: DownloaderFixture) -> [String] {
        fixture.transport.requests.map { String($0.url.path().dropFirst()) }
    }

    // MARK: - Order

    @Test func newestFirstAlsoTakesWhatComesLater() async throws {
        let fixture = DownloaderFixture(perHost: 1) { $0.order = .newestFirst }
        let (one, seven) = (ScriptedTransportGate(), ScriptedTransportGate())
        var tasks = [try await held("/1", fixture, by: one)]
        for number in 2...6 { tasks.append(await add("/\(number)", to: fixture)) }
        fixture.transport.answer(fixture.url("/7"), with: .data(Data()).held(by: seven))
        tasks.append(Task { try await fixture.downloader.download(fixture.url("/7")) })
        while fixture.downloader.waitingCount < 6 { await Task.yield() }
        one.open()
        try await fixture.transport.waitForRequests(2)
        for number in 8...14 { tasks.append(await add("/\(number)", to: fixture)) }
        seven.open()
        for task in tasks { _ = try await task.value }
        let expected = [1, 7] + (8...14).reversed() + (2...6).reversed()
        #expect(paths(fixture) == expected.map(String.init))
    }

    @Test(arguments: [DownloadOrder.firstInFirstOut, .newestFirst])
    func priorityComesBeforeOrder(_ order: DownloadOrder) async throws {
        let fixture = DownloaderFixture(perHost: 1) { $0.order = order }
        let gate = ScriptedTransportGate()
        var tasks = [try await held("/0", fixture, by: gate)]
        let priorities: [RequestPriority] = [.low, .high, .normal, .high, .low]
        for (index, priority) in priorities.enumerated() {
            tasks.append(await add("/\(index + 1)", to: fixture, ticket: WorkTicket(priority: priority)))
        }
        gate.open()
        for task in tasks { _ = try await task.value }
        let expected =
            order == .firstInFirstOut ? ["0", "2", "4", "3", "1", "5"] : ["0", "4", "2", "3", "5", "1"]
        #expect(paths(fixture) == expected)
    }

    @Test func newestFirstOrderAppliesAcrossHosts() async throws {
        let fixture = DownloaderFixture(perHost: 6, total: 1) { $0.order = .newestFirst }
        let gate = ScriptedTransportGate()
        var tasks = [try await held("/0", fixture, by: gate)]
        for index in 1...6 {
            let url = fixture.url("/\(index)", host: "host\(index % 3).test")
            fixture.transport.answer(url, with: .data(Data()))
            tasks.append(Task { try await fixture.downloader.download(url) })
            while fixture.downloader.waitingCount < index { await Task.yield() }
        }
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(paths(fixture) == ["0", "6", "5", "4", "3", "2", "1"])
    }

    // MARK: - Suspend and resume

    @Test func aSuspendedQueueStartsNothingAndLetsGoOnWhatRuns() async throws {
        let fixture = DownloaderFixture(perHost: 2)
        let gate = ScriptedTransportGate()
        let running = try await held("/running", fixture, by: gate)
        fixture.downloader.suspend()
        #expect(fixture.downloader.isSuspended)
        let tasks = [await add("/1", to: fixture), await add("/2", to: fixture)]
        gate.open()
        _ = try await running.value
        #expect(fixture.downloader.runningCount == 0)
        #expect(fixture.downloader.waitingCount == 2)
        #expect(paths(fixture) == ["running"])
        fixture.downloader.resume()
        #expect(!fixture.downloader.isSuspended)
        for task in tasks { _ = try await task.value }
        #expect(Set(paths(fixture)) == ["running", "1", "2"])
    }

    @Test func suspendedQueueLetsRunningTransferFollowRedirects() async throws {
        let fixture = DownloaderFixture(perHost: 1)
        let (gate, other) = (ScriptedTransportGate(), ScriptedTransportGate())
        fixture.transport.answer(fixture.url("/a"), with: .redirect(to: "http://two.test/b").held(by: gate))
        let target = fixture.url("/b", host: "two.test")
        fixture.transport.answer(target, with: .data(Data("b".utf8)))
        // The target's host has no room either, when the redirect leads there.
        let busy = fixture.url("/busy", host: "two.test")
        fixture.transport.answer(busy, with: .data(Data()).held(by: other))
        let blocker = Task { try await fixture.downloader.download(busy) }
        let running = Task { try await fixture.downloader.download(fixture.url("/a")) }
        try await fixture.transport.waitForRequests(2)
        fixture.downloader.suspend()
        fixture.transport.answer(fixture.url("/new", host: "two.test"), with: .data(Data()))
        let new = Task { try await fixture.downloader.download(fixture.url("/new", host: "two.test")) }
        while fixture.downloader.waitingCount < 1 { await Task.yield() }
        gate.open()
        while fixture.downloader.waitingCount < 2 { await Task.yield() }
        other.open()
        _ = try await blocker.value
        #expect(try await running.value.data == Data("b".utf8))
        #expect(!paths(fixture).contains("new"))
        fixture.downloader.resume()
        _ = try await new.value
    }

    @Test func aRetryWaitsForResume() async throws {
        let fixture = DownloaderFixture(retry: RetryPolicy())
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: .status(503).held(by: gate), .data(Data("a".utf8)))
        let task = Task { try await fixture.downloader.download(fixture.url()) }
        try await fixture.transport.waitForRequests(1)
        fixture.downloader.suspend()
        gate.open()
        while fixture.downloader.waitingCount < 1 { await Task.yield() }
        #expect(fixture.transport.requestCount == 1)
        fixture.downloader.resume()
        #expect(try await task.value.retryCount == 1)
    }

    @Test func suspendedQueueAllowsCancellation() async throws {
        let fixture = DownloaderFixture()
        fixture.downloader.suspend()
        fixture.downloader.suspend()
        let tasks = [await add("/1", to: fixture), await add("/2", to: fixture), await add("/3", to: fixture)]
        fixture.downloader.cancel(fixture.url("/2"))
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        #expect(fixture.downloader.activeCount == 2)
        fixture.downloader.cancelAll()
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(fixture.downloader.activeCount == 0)
        while fixture.downloader.waitingCount > 0 { await Task.yield() }
        fixture.downloader.resume()
        _ = try await start("/4", fixture).value
        #expect(paths(fixture) == ["4"])
    }

    // MARK: - Limits and counts

    @Test func limitsChangeWhileTransfersRunAndWait() async throws {
        let fixture = DownloaderFixture(perHost: 1, total: 8)
        let gates = (0..<6).map { _ in ScriptedTransportGate() }
        var tasks: [Download] = []
        for (index, gate) in gates.enumerated() {
            fixture.transport.answer(fixture.url("/\(index)"), with: .data(Data()).held(by: gate))
            tasks.append(Task { try await fixture.downloader.download(fixture.url("/\(index)")) })
            while fixture.downloader.waitingCount + fixture.downloader.runningCount <= index { await Task.yield() }
        }
        try await fixture.transport.waitForRequests(1)
        fixture.downloader.transfersPerHost = 3
        try await fixture.transport.waitForRequests(3)
        #expect(fixture.downloader.runningCount == 3)
        #expect(fixture.downloader.waitingCount == 3)
        fixture.downloader.transfers = 2
        #expect((fixture.downloader.transfersPerHost, fixture.downloader.transfers) == (3, 2))
        for index in 0..<2 {
            gates[index].open()
            _ = try await tasks[index].value
        }
        // Three ran, two have ended, and two may run: one started.
        try await fixture.transport.waitForRequests(4)
        #expect(fixture.downloader.runningCount == 2)
        fixture.downloader.transfers = -1
        #expect(fixture.downloader.transfers == 1)
        for gate in gates { gate.open() }
        for task in tasks { _ = try await task.value }
        #expect(fixture.transport.requestCount == 6)
        #expect(fixture.downloader.runningCount == 0)
    }

    @Test func countsDistinguishRunningFromWaitingTransfers() async throws {
        let fixture = DownloaderFixture(perHost: 1)
        let gate = ScriptedTransportGate()
        var tasks = [try await held("/1", fixture, by: gate), await add("/2", to: fixture)]
        tasks.append(Task { try await fixture.downloader.download(fixture.url("/2")) })
        while fixture.downloader.subscriberCount < 3 { await Task.yield() }
        let downloader = fixture.downloader
        #expect((downloader.activeCount, downloader.runningCount, downloader.waitingCount) == (2, 1, 1))
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(downloader.subscriberCount == 0)
        #expect(downloader.activeCount == 0)
    }

    /// Changes of priority leave entries behind; with them dropped, the order is still right.
    @Test(arguments: [DownloadOrder.firstInFirstOut, .newestFirst])
    func manyChangesOfPriorityLeaveTheOrderRight(_ order: DownloadOrder) async throws {
        let fixture = DownloaderFixture(perHost: 1) { $0.order = order }
        let gate = ScriptedTransportGate()
        var tasks = [try await held("/0", fixture, by: gate)]
        let tickets = (1...3).map { _ in WorkTicket() }
        for (index, ticket) in tickets.enumerated() {
            tasks.append(await add("/\(index + 1)", to: fixture, ticket: ticket))
        }
        for _ in 0..<200 {
            for ticket in tickets { ticket.priority = .high }
            for ticket in tickets { ticket.priority = .low }
        }
        tickets[1].priority = .veryHigh
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(paths(fixture) == (order == .firstInFirstOut ? ["0", "2", "1", "3"] : ["0", "2", "3", "1"]))
    }
}
