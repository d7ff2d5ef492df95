import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CoalescingTests {
    private let fixture = DownloaderFixture()
    private let body = Data("picture".utf8)

    /// Starts a download and waits until it is counted.
    private func start(
        _ request: DownloadRequest, ticket: WorkTicket? = nil,
        onProgress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) -> Task<DownloadResult, any Error> {
        Task { try await fixture.downloader.download(request, ticket: ticket, onProgress: onProgress) }
    }

    /// Joins a transfer whose progress is known, and returns once the join has been seen: progress comes at once.
    private func join(_ request: DownloadRequest, ticket: WorkTicket? = nil) async throws -> (
        task: Task<DownloadResult, any Error>, seen: Lock<[DownloadProgress]>
    ) {
        let joined = ScriptedTransportGate()
        let seen = Lock<[DownloadProgress]>([])
        let task = start(request, ticket: ticket) { progress in
            seen.withLock { $0.append(progress) }
            joined.open()
        }
        try await joined.wait()
        return (task, seen)
    }

    private func heldBody(_ gate: ScriptedTransportGate) -> ScriptedTransport.Answer {
        .init(
            headers: ["Content-Length": "7"], steps: [.chunk(body.prefix(3)), .wait(gate), .chunk(body.dropFirst(3))])
    }

    @Test func identicalRequestsShareOneTransfer() async throws {
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: heldBody(gate))
        let request = DownloadRequest(url: fixture.url())
        var tasks: [Task<DownloadResult, any Error>] = []
        for _ in 0..<200 { tasks.append(try await join(request).task) }
        #expect(fixture.downloader.activeCount == 1)
        gate.open()
        for task in tasks { #expect(try await task.value.data == body) }
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.downloader.activeCount == 0)
    }

    @Test func allRapidRequestsAreAnswered() async throws {
        fixture.transport.answer(fixture.url(), with: .data(body))
        try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<200 { group.addTask { try await fixture.downloader.download(fixture.url()).data } }
            var count = 0
            for try await data in group {
                #expect(data == body)
                count += 1
            }
            #expect(count == 200)
        }
    }

    @Test func aFragmentMakesNoDifferenceAndAHeaderDoes() async throws {
        let gate = ScriptedTransportGate()
        for path in ["/a", "/a#x"] { fixture.transport.answer(fixture.url(path), with: heldBody(gate)) }
        let plain = try await join(DownloadRequest(url: fixture.url("/a")))
        let fragment = try await join(DownloadRequest(url: fixture.url("/a#x")))
        let header = try await join(DownloadRequest(url: fixture.url("/a"), headers: ["X-Size": "2"]))
        let bound = try await join(DownloadRequest(url: fixture.url("/a"), maximumBytes: 10))
        #expect(fixture.transport.requestCount == 3)
        gate.open()
        for task in [plain.task, fragment.task, header.task, bound.task] { _ = try await task.value }
    }

    @Test(arguments: [0, 1, 2])
    func cancellingOneLeavesTheOthers(_ index: Int) async throws {
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: heldBody(gate))
        var tasks: [Task<DownloadResult, any Error>] = []
        for _ in 0..<3 { tasks.append(try await join(DownloadRequest(url: fixture.url())).task) }
        tasks[index].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[index].value }
        gate.open()
        for (other, task) in tasks.enumerated() where other != index { #expect(try await task.value.data == body) }
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.transport.cancelled.isEmpty)
    }

    @Test func transferEndsWhenLastSubscriberCancels() async throws {
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: heldBody(gate))
        let first = try await join(DownloadRequest(url: fixture.url())).task
        let second = try await join(DownloadRequest(url: fixture.url())).task
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(fixture.transport.cancelled.isEmpty)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await fixture.transport.waitForCancellations(1)
        #expect(fixture.downloader.activeCount == 0)
    }

    @Test func askingAgainAfterACancelNeverJoinsTheDyingTransfer() async throws {
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: heldBody(gate), .data(body))
        let ticket = WorkTicket()
        let first = try await join(DownloadRequest(url: fixture.url()), ticket: ticket).task
        // In one breath: nothing has had the time to notice.
        ticket.cancel()
        let second = start(DownloadRequest(url: fixture.url()))
        #expect(try await second.value.data == body)
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aCancelledTicketOrTaskStartsNothing() async throws {
        let ticket = WorkTicket()
        ticket.cancel()
        await #expect(throws: CancellationError.self) {
            try await fixture.downloader.download(DownloadRequest(url: fixture.url()), ticket: ticket)
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await fixture.downloader.download(fixture.url())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func lateSubscriberReceivesCurrentProgress() async throws {
        let (gate, end) = (ScriptedTransportGate(), ScriptedTransportGate())
        fixture.transport.answer(
            fixture.url(),
            with: .init(
                headers: ["Content-Length": "7"],
                steps: [.chunk(body.prefix(3)), .wait(gate), .chunk(body.dropFirst(3)), .wait(end)]))
        let early = try await join(DownloadRequest(url: fixture.url()))
        let halfWay = ScriptedTransportGate()
        let watcher = start(DownloadRequest(url: fixture.url())) { if $0.received == 3 { halfWay.open() } }
        try await halfWay.wait()
        let late = try await join(DownloadRequest(url: fixture.url()))
        #expect(late.seen.withLock { $0.first } == DownloadProgress(received: 3, expected: 7))
        gate.open()
        // No subscriber receives progress after the end.
        while late.seen.withLock({ $0.last?.received }) != 7 { await Task.yield() }
        end.open()
        for task in [early.task, late.task, watcher] { _ = try await task.value }
        #expect(late.seen.withLock { $0.map(\.received) } == [3, 7])
    }

    @Test func failureReachesAllSubscribers() async throws {
        let gate = ScriptedTransportGate()
        fixture.transport.answer(
            fixture.url(), with: .init(headers: ["Content-Length": "7"], steps: [.chunk(body.prefix(3)), .wait(gate)]))
        let tasks = [
            try await join(DownloadRequest(url: fixture.url())).task,
            try await join(DownloadRequest(url: fixture.url())).task,
        ]
        gate.open()
        for task in tasks { await #expect(throws: DownloadError.self) { try await task.value } }
    }

    @Test func cancelAllAndCancelByURLReachTheirOwn() async throws {
        let gate = ScriptedTransportGate()
        for path in ["/a", "/b"] { fixture.transport.answer(fixture.url(path), with: heldBody(gate)) }
        let first = try await join(DownloadRequest(url: fixture.url("/a"))).task
        let second = try await join(DownloadRequest(url: fixture.url("/b"))).task
        fixture.downloader.cancel(fixture.url("/a"))
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(fixture.downloader.activeCount == 1)
        fixture.downloader.cancelAll()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await fixture.transport.waitForCancellations(2)
    }

    /// Starts, joins, cancels and asks again from many tasks at once; every one of them must end once.
    @Test func anyMixtureOfSubscribersEnds() async throws {
        for path in 0..<4 { fixture.transport.answer(fixture.url("/\(path)"), with: .data(body)) }
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for round in 0..<100 {
                        let url = fixture.url("/\((worker + round) % 4)")
                        let ticket = WorkTicket()
                        let task = Task {
                            try await fixture.downloader.download(DownloadRequest(url: url), ticket: ticket)
                        }
                        if round % 3 == 0 { ticket.cancel() }
                        if round % 5 == 0 { task.cancel() }
                        ticket.priority = round % 2 == 0 ? .high : .low
                        switch await task.result {
                        case .success(let result): #expect(result.data == body)
                        case .failure(let error): #expect(error is CancellationError)
                        }
                    }
                }
            }
        }
        #expect(fixture.downloader.activeCount == 0)
    }
}
