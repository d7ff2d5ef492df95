import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Work that is under way is shared, at each level.
@Suite struct PipelineCoalescingTests {
    @Test func identicalRequestsMakeOneTransferAndOneDecode() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("jpeg/baseline-420.jpg", gate: gate)
        let tasks = (0..<1000).map { _ in fixture.pipeline.task(for: ImageRequest(url)) }
        try await fixture.transport.waitForRequests(1)
        gate.open()
        for task in tasks { #expect(try await task.response.origin == .network) }
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.decodes.value == 1)
    }

    @Test func tenSizesOfOneURLAreOneTransferAndTenImages() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("jpeg/baseline-420.jpg", gate: gate)
        let tasks = (1...10).map { side in
            fixture.pipeline.task(
                for: ImageRequest(url, processors: [.resize(to: PixelSize(side * 2, side), mode: .stretch)]))
        }
        try await fixture.transport.waitForRequests(1)
        gate.open()
        for (index, task) in tasks.enumerated() {
            #expect(try await task.response.image.size == PixelSize((index + 1) * 2, index + 1))
        }
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.decodes.value == 10)
    }

    @Test func equalFirstStepsRunOnce() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let (first, second) = (Counter(), Counter())
        let shared = CountingProcessor("shared", runs: first)
        let one = fixture.pipeline.task(for: ImageRequest(url, processors: [shared, .flip(.horizontal)]))
        let two = fixture.pipeline.task(
            for: ImageRequest(url, processors: [shared, CountingProcessor("other", runs: second)]))
        let three = fixture.pipeline.task(for: ImageRequest(url, processors: [shared]))
        try await fixture.transport.waitForRequests(1)
        // The transfer is under way before the last of the three may be; they still meet at its step.
        while await !fixture.pipeline.isWaitingForBytes(3) { await Task.yield() }
        gate.open()
        for task in [one, two, three] { _ = try await task.response }
        #expect(first.value == 1)
        #expect(second.value == 1)
        #expect(fixture.decodes.value == 1)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func differentHeadersAreDifferentTransfers() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        var other = ImageRequest(url)
        other.network.headers.set("Authorization", "Bearer other")
        let tasks = [ImageRequest(url), other].map { fixture.pipeline.task(for: $0) }
        try await fixture.transport.waitForRequests(2)
        gate.open()
        for task in tasks { _ = try await task.response }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aFailureReachesEveryOneOnce() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = PipelineFixture.url("nothing")
        fixture.transport.answer(url, with: .status(404).held(by: gate))
        let ends = Counter()
        let tasks = (0..<200).map { _ in
            fixture.pipeline.load(ImageRequest(url), callbackQueue: .inline) { _ in ends.increment() }
        }
        try await fixture.transport.waitForRequests(1)
        gate.open()
        for task in tasks {
            await #expect { try await task.response } throws: { ($0 as? ImagePipelineError)?.code == "httpStatus" }
        }
        #expect(ends.value == 200)
        #expect(fixture.transport.requestCount == 1)
    }
}
