import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import Testing

/// Bodies that arrive slowly: the conditions for ending them, and the places that they may keep from others.
@Suite(.timeLimit(.minutes(5)))
struct PaceTests {
    private let clock = ManualClock()
    private let fixture: DownloaderFixture

    init() {
        fixture = Self.fixture(clock)
    }

    private static func fixture(
        _ clock: ManualClock, perHost: Int = 6, total: Int = 24, slow: Int = 24,
        configure: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) -> DownloaderFixture {
        DownloaderFixture(perHost: perHost, total: total) {
            $0.time = clock.timeSource
            $0.timeouts = DownloadTimeouts()
            $0.slowTransfers = slow
            configure(&$0)
        }
    }

    /// Lets seconds pass, one by one, while something runs that waits for its server.
    private func pass(_ seconds: Int, _ downloader: ImageDownloader? = nil) async throws {
        for _ in 0..<seconds { try await advance(downloader) }
        // Everything that was due has been checked.
        try await clock.waitForSleepers()
    }

    /// Advances the clock by a second, which counts for all running transfers: each of them waits for its server.
    private func advance(_ downloader: ImageDownloader? = nil) async throws {
        try await clock.waitForSleepers()
        let downloader = downloader ?? fixture.downloader
        while downloader.silentCount < downloader.runningCount { await Task.yield() }
        clock.advance(by: .seconds(1))
    }

    /// A body of chunks, each of which waits at a gate of its own.
    private func answer(_ url: URL, chunks: [Int], gates: [ScriptedTransportGate]) {
        let steps = zip(chunks, gates).flatMap { size, gate -> [ScriptedTransport.Answer.Step] in
            [.wait(gate), .chunk(Data(count: size))]
        }
        fixture.transport.answer(url, with: .init(headers: ["Content-Length": "\(chunks.reduce(0, +))"], steps: steps))
    }

    private func start(_ request: DownloadRequest, _ received: Lock<Int>) -> Task<DownloadResult, any Error> {
        Task { [fixture] in
            try await fixture.downloader.download(request) { progress in received.withLock { $0 = progress.received } }
        }
    }

    private func wait(for count: Int, _ received: Lock<Int>) async {
        while received.withLock({ $0 }) < count { await Task.yield() }
    }

    // MARK: - The least rate

    @Test func aBodyBelowTheLeastRateIsEnded() async throws {
        let gates = (0..<40).map { _ in ScriptedTransportGate() }
        answer(fixture.url(), chunks: Array(repeating: 1, count: 40), gates: gates)
        let received = Lock(-1)
        let task = start(DownloadRequest(url: fixture.url()), received)
        await wait(for: 0, received)
        for second in 0..<29 {
            try await pass(1)
            // It never falls silent.
            gates[second].open()
            await wait(for: second + 1, received)
        }
        #expect(fixture.downloader.runningCount == 1)
        try await advance()
        let error = await #expect(throws: DownloadError.self) { try await task.value }
        #expect(error?.reason == .timeout(.minimumRate))
        #expect(error?.description == "one.test/a: timed out: the body came too slowly")
        #expect(fixture.downloader.runningCount == 0)
    }

    @Test func aBodyAtTheLeastRateGoesOn() async throws {
        let gates = (0..<4).map { _ in ScriptedTransportGate() }
        answer(fixture.url(), chunks: Array(repeating: 3000, count: 4), gates: gates)
        let received = Lock(-1)
        let task = start(DownloadRequest(url: fixture.url()), received)
        await wait(for: 0, received)
        for (index, gate) in gates.enumerated() {
            try await pass(29)
            gate.open()
            await wait(for: 3000 * (index + 1), received)
            if index < 3 { try await pass(1) }
        }
        #expect(try await task.value.data.count == 12_000)
    }

    @Test(arguments: [false, true])
    func requestsAndDownloadersSetTheLeastRate(_ isRequests: Bool) async throws {
        let rate = MinimumRate(bytesPerSecond: 1000, over: .seconds(5))
        let fixture = Self.fixture(clock) { if !isRequests { $0.timeouts.minimumRate = rate } }
        let gate = ScriptedTransportGate()
        fixture.transport.answer(
            fixture.url(), with: .init(steps: [.chunk(Data(count: 4999)), .wait(gate), .chunk(Data(count: 1))]))
        let received = Lock(-1)
        var request = DownloadRequest(url: fixture.url())
        if isRequests { request.timeouts = DownloadTimeouts(minimumRate: rate) }
        let sent = request
        let task = Task {
            try await fixture.downloader.download(sent) { progress in received.withLock { $0 = progress.received } }
        }
        await wait(for: 4999, received)
        try await pass(4, fixture.downloader)
        #expect(fixture.downloader.runningCount == 1)
        try await advance(fixture.downloader)
        let error = await #expect(throws: DownloadError.self) { try await task.value }
        #expect(error?.reason == .timeout(.minimumRate))
    }

    @Test func withoutALeastRateABodyMayTakeAnyTime() async throws {
        let gate = ScriptedTransportGate()
        answer(fixture.url(), chunks: [1], gates: [gate])
        let received = Lock(-1)
        var request = DownloadRequest(url: fixture.url())
        request.timeouts = DownloadTimeouts(minimumRate: .none)
        let task = start(request, received)
        await wait(for: 0, received)
        try await pass(200)
        gate.open()
        #expect(try await task.value.data.count == 1)
    }

    /// Transfers with other limits are not shared.
    @Test func theLeastRateIsPartOfWhatIsShared() async throws {
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: .data(Data([1])).held(by: gate))
        let downloader = fixture.downloader
        var patient = DownloadRequest(url: fixture.url())
        patient.timeouts = DownloadTimeouts(minimumRate: .none)
        var same = DownloadRequest(url: fixture.url())
        same.timeouts = DownloadTimeouts()
        let requests = [DownloadRequest(url: fixture.url()), same, patient]
        let tasks = requests.map { request in Task { try await downloader.download(request) } }
        while downloader.subscriberCount < 3 { await Task.yield() }
        #expect(downloader.activeCount == 2)
        gate.open()
        for task in tasks { _ = try await task.value }
    }

    @Test func pausesOfOurOwnDoNotCount() async throws {
        let gate = ScriptedTransportGate()
        let (entered, left) = (ScriptedTransportGate(), DispatchSemaphore(value: 0))
        fixture.transport.answer(
            fixture.url(), with: .init(steps: [.chunk(Data(count: 10)), .wait(gate), .chunk(Data(count: 10))]))
        let downloader = fixture.downloader
        let url = fixture.url()
        let ended = Lock<Result<Int, any Error>?>(nil)
        // A reader that takes its time, on a thread of its own.
        WorkerThread.start(name: "slow-reader") {
            Task {
                do {
                    let result = try await downloader.download(DownloadRequest(url: url)) { progress in
                        guard progress.received == 10 else { return }
                        entered.open()
                        left.wait()
                    }
                    ended.withLock { $0 = .success(result.data.count) }
                } catch {
                    ended.withLock { $0 = .failure(error) }
                }
            }
        }
        try await entered.wait()
        for _ in 0..<100 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        try await clock.waitForSleepers()
        #expect(ended.withLock { $0 } == nil)
        left.signal()
        gate.open()
        while ended.withLock({ $0 == nil }) { await Task.yield() }
        #expect(try ended.withLock { try $0?.get() } == 20)
    }

    /// The process was stopped, or got no processor: bytes may have arrived meanwhile that have not been read.
    @Test func timeThatIsSkippedDoesNotCount() async throws {
        let gate = ScriptedTransportGate()
        answer(fixture.url(), chunks: [1], gates: [gate])
        let received = Lock(-1)
        let task = start(DownloadRequest(url: fixture.url()), received)
        await wait(for: 0, received)
        for _ in 0..<10 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(3600))
        }
        try await clock.waitForSleepers()
        gate.open()
        #expect(try await task.value.data.count == 1)
    }

    // MARK: - Places

    /// As many slow bodies as there are places, on four hosts; an image of another host.
    @Test func slowBodiesLeaveTheirPlacesToOthers() async throws {
        let gate = ScriptedTransportGate()
        let tasks = try await fill(fixture, hosts: 4, perHost: 6, gate)
        let other = fixture.url("/b", host: "other.test")
        fixture.transport.answer(other, with: .data(Data([1])))
        let waiting = Task { [fixture] in try await fixture.downloader.download(other) }
        while fixture.downloader.waitingCount == 0 { await Task.yield() }
        try await pass(9)
        #expect(fixture.downloader.waitingCount == 1)
        try await advance()
        #expect(try await waiting.value.data.count == 1)
        // The slow ones go on.
        #expect(fixture.downloader.runningCount == 24)
        gate.open()
        for task in tasks { #expect(try await task.value.data.count == 1) }
        #expect(fixture.downloader.runningCount == 0)
    }

    /// Heads that do not come hold no places either.
    @Test func headsThatDoNotComeLeaveTheirPlacesToOthers() async throws {
        let fixture = Self.fixture(clock, total: 2)
        let gate = ScriptedTransportGate()
        let tasks = (0..<2).map { number in
            let url = fixture.url("/\(number)")
            fixture.transport.answer(url, with: .data(Data([1])).held(by: gate))
            return Task { try await fixture.downloader.download(url) }
        }
        try await fixture.transport.waitForRequests(2)
        let other = fixture.url("/b", host: "other.test")
        fixture.transport.answer(other, with: .data(Data([1])))
        let waiting = Task { try await fixture.downloader.download(other) }
        while fixture.downloader.waitingCount == 0 { await Task.yield() }
        try await clock.waitForSleepers()
        for _ in 0..<10 {
            try await advance(fixture.downloader)
        }
        #expect(try await waiting.value.data.count == 1)
        gate.open()
        for task in tasks { _ = try await task.value }
    }

    @Test func whenTooManyAreSlowTheSlowestIsEnded() async throws {
        let fixture = Self.fixture(clock, total: 4, slow: 2) { $0.timeouts.minimumRate = .none }
        let gate = ScriptedTransportGate()
        // The first of each host brings the least.
        let tasks = try await fill(fixture, hosts: 2, perHost: 3, gate, started: 4)
        try await pass(10, fixture.downloader)
        // Two are aside, and have let the last two in.
        while fixture.downloader.runningCount < 6 { await Task.yield() }
        try await pass(10, fixture.downloader)
        #expect(fixture.downloader.runningCount == 6)
        let other = fixture.url("/b", host: "other.test")
        fixture.transport.answer(other, with: .data(Data([1])))
        let waiting = Task { try await fixture.downloader.download(other) }
        while fixture.downloader.waitingCount == 0 { await Task.yield() }
        while fixture.downloader.waitingCount > 0 {
            try await advance(fixture.downloader)
            await Task.yield()
        }
        #expect(try await waiting.value.data.count == 1)
        gate.open()
        var ended: [DownloadError.Reason] = []
        for task in tasks {
            do { _ = try await task.value } catch { ended.append(try #require(error as? DownloadError).reason) }
        }
        #expect(!ended.isEmpty && ended.count < tasks.count)
        #expect(ended.allSatisfy { $0 == .timeout(.crowded) })
    }

    /// One place is wanted, and one is given.
    @Test func noMoreAreEndedThanOthersNeed() async throws {
        let fixture = Self.fixture(clock, total: 4, slow: 4) { $0.timeouts.minimumRate = .none }
        let gate = ScriptedTransportGate()
        let tasks = try await fill(fixture, hosts: 4, perHost: 2, gate, started: 4)
        try await pass(10, fixture.downloader)
        while fixture.downloader.runningCount < 8 { await Task.yield() }
        let other = fixture.url("/b", host: "other.test")
        fixture.transport.answer(other, with: .data(Data([1])))
        let waiting = Task { try await fixture.downloader.download(other) }
        while fixture.downloader.waitingCount == 0 { await Task.yield() }
        while fixture.downloader.waitingCount > 0 {
            try await pass(1, fixture.downloader)
            await Task.yield()
        }
        #expect(try await waiting.value.data.count == 1)
        gate.open()
        var ended = 0
        for task in tasks {
            do { _ = try await task.value } catch { ended += 1 }
        }
        #expect(ended == 1)
    }

    /// A slow network is not a slow server: where each host has a part of it, nothing is gained by ending a transfer.
    @Test func nobodyIsEndedForAnotherImageOfTheSameHosts() async throws {
        let fixture = Self.fixture(clock, total: 2, slow: 2) { $0.timeouts.minimumRate = .none }
        let gate = ScriptedTransportGate()
        let tasks = try await fill(fixture, hosts: 2, perHost: 5, gate, started: 2)
        try await pass(60, fixture.downloader)
        #expect(fixture.downloader.runningCount == 4 && fixture.downloader.waitingCount == 6)
        gate.open()
        for task in tasks { #expect(try await task.value.data.count == 1) }
    }

    @Test func nobodyIsEndedWhileNobodyWaits() async throws {
        let fixture = Self.fixture(clock, total: 4, slow: 0) { $0.timeouts.minimumRate = .none }
        let gate = ScriptedTransportGate()
        let tasks = try await fill(fixture, hosts: 2, perHost: 2, gate)
        try await pass(100, fixture.downloader)
        gate.open()
        for task in tasks { #expect(try await task.value.data.count == 1) }
    }

    /// Starts bodies of a byte that wait at a gate; returns once they run.
    private func fill(
        _ fixture: DownloaderFixture, hosts: Int, perHost: Int, _ gate: ScriptedTransportGate, started: Int? = nil
    ) async throws -> [Task<DownloadResult, any Error>] {
        let begun = Lock(0)
        let tasks = (0..<(hosts * perHost)).map { number in
            let url = fixture.url("/\(number)", host: "host\(number % hosts).test")
            fixture.transport.answer(
                url, with: .init(headers: ["Content-Length": "1"], steps: [.wait(gate), .chunk(Data([1]))]))
            return Task {
                try await fixture.downloader.download(DownloadRequest(url: url)) { progress in
                    if progress.received == 0 { begun.withLock { $0 += 1 } }
                }
            }
        }
        while begun.withLock({ $0 }) < started ?? tasks.count { await Task.yield() }
        while fixture.downloader.waitingCount < tasks.count - (started ?? tasks.count) { await Task.yield() }
        return tasks
    }
}
