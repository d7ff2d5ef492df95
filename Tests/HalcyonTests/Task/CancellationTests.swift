import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@Suite struct PipelineCancellationTests {
    @Test func cancellingTheOnlyTaskEndsTheTransfer() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let task = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(1)
        task.cancel()
        #expect(task.status == .cancelled)
        await #expect(throws: CancellationError.self) { try await task.response }
        try await fixture.transport.waitForCancellations(1)
        #expect(await fixture.diskEntries() == 0)
    }

    @Test func cancellingTheAwaitingTaskCancelsTheLoad() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let work = Task { try await fixture.pipeline.image(for: url) }
        try await fixture.transport.waitForRequests(1)
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        try await fixture.transport.waitForCancellations(1)
    }

    @Test func aTaskThatIsCancelledBeforeItStartsLoadsNothing() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let gate = ScriptedTransportGate()
        let work = Task {
            // Continued, whatever the gate's state, once this task has been cancelled.
            try? await gate.wait()
            return try await fixture.pipeline.image(for: url)
        }
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func noneOfManyTasksThatAreCancelledBeforeTheyStartLoads() async throws {
        struct Counted: ImageDataProvider {
            let cacheKey: String
            let calls: Counter

            func data() async throws -> Data {
                calls.increment()
                return try TestFiles.data("png/rgb8.png")
            }
        }
        let (fixture, calls) = (PipelineFixture(), Counter())
        let events = fixture.pipeline.events
        let tasks = (0..<200).map { index in
            Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await fixture.pipeline.image(
                    for: ImageRequest(.provider(Counted(cacheKey: "\(index)", calls: calls))))
            }
        }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        #expect(calls.value == 0)
        #expect(fixture.decodes.value == 0)
        // None of them was begun: the first event is that of a load that nobody cancelled.
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        for await event in events {
            #expect(event.source == ImageSource.remote(url).description)
            break
        }
    }

    @Test func cancellingOneOfTwoLeavesTheOther() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let first = fixture.pipeline.task(for: ImageRequest(url))
        let second = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(1)
        while await !fixture.pipeline.isWaitingForBytes(2) { await Task.yield() }
        first.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await first.response }
        #expect(try await second.response.image.size == PixelSize(48, 32))
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.transport.cancelled.isEmpty)
    }

    @Test func askingAgainAfterACancelDoesNotJoinTheDyingTransfer() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("again.png")
        fixture.transport.answer(
            url, with: .data(Data([1])).held(by: ScriptedTransportGate()),
            .data(try TestFiles.data("png/rgb8.png")))
        let first = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(1)
        first.cancel()
        let second = fixture.pipeline.task(for: ImageRequest(url))
        #expect(try await second.response.image.size == PixelSize(48, 32))
    }

    @Test func everyWaiterOfACancelledTaskHearsItOnce() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let ends = Counter()
        let task = fixture.pipeline.load(ImageRequest(url), callbackQueue: .inline) { result in
            if case .failure(is CancellationError) = result { ends.increment() }
        }
        try await fixture.transport.waitForRequests(1)
        for _ in 0..<10 { task.cancel() }
        #expect(ends.value == 1)
    }

    @Test func nothingIsLeftRunningAfterAStormOfCancels() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        for round in 0..<20 {
            let tasks = (0..<50).map { index in
                fixture.pipeline.task(
                    for: ImageRequest(url, processors: [.resize(to: PixelSize(1 + index, 1 + round))]))
            }
            for task in tasks { task.cancel() }
            for task in tasks { await #expect(throws: CancellationError.self) { try await task.response } }
        }
        while await fixture.pipeline.runningCount > 0 { await Task.yield() }
        #expect(await fixture.pipeline.jobCount == 0)
        #expect(await fixture.diskEntries() == 0)
    }
}
