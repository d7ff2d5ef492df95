import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Prefetchers that are stopped, paused, hurried and crowded.
@Suite(.timeLimit(.minutes(5))) struct PrefetchControlTests {
    private static let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil

    private func serve(
        _ count: Int, on fixture: PipelineFixture, gate: ScriptedTransportGate? = nil
    ) throws -> [ImageRequest] {
        var answer = ScriptedTransport.Answer.data(try TestFiles.data("png/rgb8.png"))
        answer.headGate = gate
        return (0..<count).map { index in
            let url = PipelineFixture.url("\(index).png")
            fixture.transport.answer(url, with: answer)
            return ImageRequest(url)
        }
    }

    private func isIdle(_ fixture: PipelineFixture) async {
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
    }

    @Test func stopCancelsWhatRunsAndLeavesTheRest() async throws {
        let fixture = PipelineFixture()
        let requests = try serve(20, on: fixture, gate: ScriptedTransportGate())
        let prefetcher = ImagePrefetcher(requests, pipeline: fixture.pipeline)
        prefetcher.start()
        try await fixture.transport.waitForRequests(5)
        prefetcher.stop()
        prefetcher.stop()
        let outcome = try await prefetcher.outcome
        #expect(outcome.failed.count == 5)
        #expect(outcome.failed.allSatisfy { $0.error is CancellationError })
        #expect(outcome.notStarted.map(\.source) == requests[5...].map(\.source))
        try await fixture.transport.waitForCancellations(5)
        prefetcher.start()
        prefetcher.resume()
        #expect(try await prefetcher.outcome.notStarted.count == 15)
        #expect(fixture.transport.requestCount == 5)
        await isIdle(fixture)
        #expect(await fixture.diskEntries() == 0)
    }

    @Test func stopWhileOnlyLookUpsAreUnderWayStartsNoTransfer() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let files = FaultInjectingFileSystem()
        // Threads of its own: a held call blocks one.
        let threads = ThreadPool(name: "prefetch-test", threads: 2)
        let disk = DiskCache(
            folder: folder, configuration: DiskCache.Configuration(), fileSystem: files, timeSource: .system,
            threads: threads)
        let fixture = PipelineFixture(folder: folder) { $0.cache = ImageCache(disk: disk) }
        let requests = try serve(20, on: fixture)
        files.hold(.open)
        let prefetcher = ImagePrefetcher(requests, pipeline: fixture.pipeline)
        prefetcher.start()
        try await files.waitForHeld(.open)
        prefetcher.stop()
        files.release(.open)
        let outcome = try await prefetcher.outcome
        #expect(outcome.notStarted.count == 20)
        #expect(outcome.failed.isEmpty && outcome.skipped.isEmpty && outcome.finished.isEmpty)
        await isIdle(fixture)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func stopBeforeTheStartLeavesAll() async throws {
        let fixture = PipelineFixture()
        let prefetcher = ImagePrefetcher(try serve(3, on: fixture), pipeline: fixture.pipeline)
        prefetcher.stop()
        #expect(try await prefetcher.outcome.notStarted.count == 3)
        #expect(await prefetcher.run().notStarted.count == 3)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func cancellingTheRunStopsIt() async throws {
        let fixture = PipelineFixture()
        let requests = try serve(20, on: fixture, gate: ScriptedTransportGate())
        let prefetcher = ImagePrefetcher(requests, pipeline: fixture.pipeline)
        let work = Task { await prefetcher.run() }
        try await fixture.transport.waitForRequests(5)
        work.cancel()
        let outcome = await work.value
        #expect(outcome.failed.count == 5)
        #expect(outcome.notStarted.count == 15)
        await isIdle(fixture)
    }

    @Test func cancellingWhoWaitsForTheOutcomeLeavesThePrefetch() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let prefetcher = ImagePrefetcher(try serve(7, on: fixture, gate: gate), pipeline: fixture.pipeline)
        prefetcher.start()
        let waiting = Task { try await prefetcher.outcome }
        try await fixture.transport.waitForRequests(5)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.open()
        #expect(try await prefetcher.outcome.finished.count == 7)
    }

    @Test func aPauseStartsNothingMoreUntilItIsOver() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let prefetcher = ImagePrefetcher(try serve(20, on: fixture, gate: gate), pipeline: fixture.pipeline)
        let progress = prefetcher.progress
        prefetcher.start()
        try await fixture.transport.waitForRequests(5)
        prefetcher.pause()
        gate.open()
        for await step in progress where step.completed == 5 { break }
        await isIdle(fixture)
        #expect(fixture.transport.requestCount == 5)
        prefetcher.resume()
        #expect(try await prefetcher.outcome.finished.count == 20)
        #expect(fixture.transport.requestCount == 20)
    }

    @Test func aPausedPrefetchStartsAtItsResumeAndCanBeStopped() async throws {
        let fixture = PipelineFixture()
        let requests = try serve(3, on: fixture)
        let prefetcher = ImagePrefetcher(requests, pipeline: fixture.pipeline)
        prefetcher.pause()
        prefetcher.start()
        #expect(fixture.transport.requestCount == 0)
        prefetcher.resume()
        #expect(try await prefetcher.outcome.finished.count == 3)
        let other = ImagePrefetcher(requests, pipeline: fixture.pipeline)
        other.pause()
        other.start()
        other.stop()
        #expect(try await other.outcome.notStarted.count == 3)
    }

    @Test func cancellingAllOfTheDownloaderDoesNotHangIt() async throws {
        let fixture = PipelineFixture()
        let requests = try serve(20, on: fixture)
        let held = ScriptedTransport.Answer.status(200).held(by: ScriptedTransportGate())
        for request in requests[..<5] {
            guard case .remote(let url) = request.source else { continue }
            fixture.transport.answer(url, with: held)
        }
        let prefetcher = ImagePrefetcher(requests, pipeline: fixture.pipeline)
        prefetcher.start()
        try await fixture.transport.waitForRequests(5)
        fixture.pipeline.configuration.downloader.cancelAll()
        let outcome = try await prefetcher.outcome
        #expect(outcome.failed.count == 5)
        #expect(outcome.failed.allSatisfy { $0.error is CancellationError })
        #expect(outcome.finished.count == 15)
    }

    @Test func thePriorityReachesWhatWaits() async throws {
        let transport = ScriptedTransport { _ in .status(404) }
        var download = ImageDownloader.Configuration(transport: transport)
        download.transfers = 1
        download.time = ManualClock().timeSource
        download.retry.maximumRetries = 0
        let downloader = ImageDownloader(download)
        let fixture = PipelineFixture { $0.downloader = downloader }
        let gate = ScriptedTransportGate()
        let first = PipelineFixture.url("first")
        transport.answer(first, with: .status(404).held(by: gate))
        let running = fixture.pipeline.task(for: ImageRequest(first))
        try await transport.waitForRequests(1)
        let (prefetched, other) = (PipelineFixture.url("prefetched"), PipelineFixture.url("other"))
        let prefetcher = ImagePrefetcher([ImageRequest(prefetched)], pipeline: fixture.pipeline)
        #expect(prefetcher.priority == .low)
        let waiting = fixture.pipeline.task(for: ImageRequest(other))
        prefetcher.start()
        while downloader.waitingCount < 2 { await Task.yield() }
        prefetcher.priority = .veryHigh
        // A turn of the coordinator, behind the change.
        _ = await fixture.pipeline.jobCount
        gate.open()
        _ = try? await running.response
        _ = try? await waiting.response
        _ = try await prefetcher.outcome
        #expect(transport.requests.map(\.url) == [first, prefetched, other])
    }

    /// The full count is 100,000.
    @Test func aLongListNeedsNoMoreTasksAndNoStack() async throws {
        let count = Self.isSoak ? 100_000 : 1000
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        // Half of it fails before anything is looked up, half is there already.
        let requests = (0..<count).map { $0 % 2 == 0 ? ImageRequest(url) : ImageRequest(nil as URL?) }
        let prefetcher = ImagePrefetcher(requests, pipeline: fixture.pipeline)
        let progress = prefetcher.progress
        prefetcher.start()
        var told = 0
        for await _ in progress { told += 1 }
        let outcome = try await prefetcher.outcome
        #expect(told == count + 1)
        #expect(outcome.skipped.count == count / 2)
        #expect(outcome.failed.count == count / 2)
        #expect(fixture.transport.requestCount == 1)
    }

    /// The full count is 100,000.
    @Test func anyOrderOfCallsEndsOnceAndNamesEachRequestOnce() async throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<(Self.isSoak ? 1000 : 10) {
            let fixture = PipelineFixture()
            let requests = try serve(100, on: fixture)
            let prefetcher = ImagePrefetcher(requests, pipeline: fixture.pipeline, concurrency: 7)
            prefetcher.start()
            for _ in 0..<20 {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: prefetcher.pause()
                case 1: prefetcher.resume()
                case 2: fixture.pipeline.configuration.downloader.cancelAll()
                default: prefetcher.priority = .high
                }
                await Task.yield()
            }
            Bool.random(using: &random) ? prefetcher.stop() : prefetcher.resume()
            let outcome = try await prefetcher.outcome
            let lists = [outcome.finished, outcome.skipped, outcome.failed.map(\.request), outcome.notStarted]
            let named = lists.joined().map(\.source)
            #expect(named.count == 100)
            #expect(Set(named).count == 100)
            await isIdle(fixture)
        }
    }
}
