import Foundation
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

@Suite struct EventTests {
    /// A body in two halves with a gate between them.
    private func halves(of file: String, _ gate: ScriptedTransportGate) throws -> ScriptedTransport.Answer {
        let data = try TestFiles.data(file)
        let half = data.count / 2
        return .init(
            headers: ["Content-Length": "\(data.count)"],
            steps: [.chunk(data.prefix(half)), .wait(gate), .chunk(data.dropFirst(half))])
    }

    @Test func eventsTellProgressThenTheEnd() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("halves")
        let gate = ScriptedTransportGate()
        fixture.transport.answer(url, with: try halves(of: "png/rgb8.png", gate))
        let size = try TestFiles.data("png/rgb8.png").count
        var progress: [LoadProgress] = []
        var response: ImageResponse?
        for try await event in fixture.pipeline.events(for: ImageRequest(url)) {
            switch event {
            case .progress(let step):
                #expect(response == nil)
                progress.append(step)
                if step.received == size / 2 { gate.open() }
            case .preview: break
            case .finished(let end): response = end
            }
        }
        #expect(response?.origin == .network)
        #expect(progress.map(\.received) == progress.map(\.received).sorted())
        #expect(progress.contains(LoadProgress(received: size / 2, expected: size)))
        #expect(progress.last == LoadProgress(received: size, expected: size))
        #expect(progress.last?.fraction == 1)
    }

    /// Only what is told is thinned out: the task knows its progress, and its step is no reason for a load of its own.
    @Test(arguments: [true, false])
    func progressOfALoadComesInSteps(byDefault: Bool) async throws {
        let step = ProgressStep(fraction: 0.25)
        let fixture = PipelineFixture { if byDefault { $0.defaults.progressStep = step } }
        let url = PipelineFixture.url("tenths")
        let data = try TestFiles.data("png/rgb8.png")
        let ends = (0...10).map { $0 * data.count / 10 }
        let gates = ends.map { _ in ScriptedTransportGate() }
        let steps = (0..<10).flatMap { index -> [ScriptedTransport.Answer.Step] in
            [.wait(gates[index]), .chunk(data[ends[index]..<ends[index + 1]])]
        }
        fixture.transport.answer(
            url, with: .init(headers: ["Content-Length": "\(data.count)"], steps: steps + [.wait(gates[10])]))
        var request = ImageRequest(url)
        if !byDefault { request.progressStep = step }
        let task = fixture.pipeline.task(for: request)
        #expect(task.request.progressStep == step)
        request.progressStep = ProgressStep()
        let other = fixture.pipeline.task(for: request)
        let (told, all) = (Lock<[Int]>([]), Lock<[Int]>([]))
        task.observe(event: { told.add($0) }, end: { _ in })
        other.observe(event: { all.add($0) }, end: { _ in })
        for (gate, end) in zip(gates, ends) {
            let progress = ImageTask.Status.running(LoadProgress(received: end, expected: data.count))
            while task.status != progress || other.status != progress { await Task.yield() }
            gate.open()
        }
        _ = try await (task.response, other.response)
        #expect(all.withLock { $0 } == ends)
        let coarse = ends.reduce(into: [Int]()) { steps, end in
            let isDue = steps.last.map { (end - $0) * 4 >= data.count } ?? true
            if isDue || end == data.count { steps.append(end) }
        }
        #expect(coarse.count < 6)
        #expect(told.withLock { $0 } == coarse)
        #expect(fixture.transport.requestCount == 1)
    }

    /// The task holds none of its locks while an observer is called.
    @Test func anObserverMayAskTheTask() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("halves")
        let gate = ScriptedTransportGate()
        fixture.transport.answer(url, with: try halves(of: "png/rgb8.png", gate))
        let task = fixture.pipeline.task(for: ImageRequest(url))
        let statuses = Counter()
        task.observe(
            event: { _ in
                task.priority = .high
                if case .running = task.status { statuses.increment() }
                gate.open()
            }, end: { _ in if task.status == .finished { statuses.increment() } })
        _ = try await task.response
        #expect(statuses.value >= 2)
    }

    @Test func aLateReaderHearsTheLatestProgressAndTheEnd() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("halves")
        let gate = ScriptedTransportGate()
        fixture.transport.answer(url, with: try halves(of: "png/rgb8.png", gate))
        let half = try TestFiles.data("png/rgb8.png").count / 2
        let task = fixture.pipeline.task(for: ImageRequest(url))
        for try await event in task.events {
            if case .progress(let progress) = event, progress.received == half { break }
        }
        // A second task of the same image joins late, and receives the progress at once.
        let late = fixture.pipeline.task(for: ImageRequest(url))
        for try await event in late.events {
            guard case .progress(let progress) = event else { continue }
            #expect(progress.received == half)
            break
        }
        gate.open()
        _ = try await task.response
        _ = try await late.response
        var ends = 0
        for try await event in task.events {
            if case .finished = event { ends += 1 }
        }
        #expect(ends == 1)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aReaderOfTheTaskThatStopsLeavesTheLoadRunning() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = PipelineFixture.url("halves")
        fixture.transport.answer(url, with: try halves(of: "png/rgb8.png", gate))
        let task = fixture.pipeline.task(for: ImageRequest(url))
        for try await _ in task.events { break }
        gate.open()
        #expect(try await task.response.origin == .network)
    }

    @Test func aReaderOfThePipelineThatStopsCancelsTheLoad() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("halves")
        fixture.transport.answer(url, with: try halves(of: "png/rgb8.png", ScriptedTransportGate()))
        let reader = Task {
            for try await _ in fixture.pipeline.events(for: ImageRequest(url)) { break }
        }
        try await reader.value
        try await fixture.transport.waitForCancellations(1)
    }

    @Test(arguments: ["jpeg/progressive.jpg", "jpeg/baseline-420.jpg"])
    func previewsComeBeforeTheEndWhereTheyAreWantedAndAreNeverCached(file: String) async throws {
        // One preview: no time passes for another.
        let fixture = PipelineFixture(clock: ManualClock().timeSource) { $0.coders = .standard() }
        let url = PipelineFixture.url("halves")
        let gate = ScriptedTransportGate()
        let data = try TestFiles.data(file)
        // Far enough for the first pixels, and short of the end.
        let part = data.count - 100
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(part)), .wait(gate), .chunk(data.dropFirst(part))]))
        var request = ImageRequest(url, processors: [.crop(to: PixelSize(40, 30)), .flip(.vertical)])
        request.wantsPreviews = true
        var previews: [ImagePreview] = []
        var final: Image?
        for try await event in fixture.pipeline.events(for: request) {
            switch event {
            case .progress: break
            case .preview(let preview):
                previews.append(preview)
                #expect(fixture.pipeline.configuration.cache.image(inMemoryFor: request) == nil)
                gate.open()
            case .finished(let response): final = response.image
            }
        }
        #expect(!previews.isEmpty)
        #expect(previews.allSatisfy { $0.size == PixelSize(40, 30) })
        let kept = try #require(fixture.pipeline.configuration.cache.image(inMemoryFor: request))
        #expect(try #require(final).hasSamePixels(as: kept))
    }

    @Test func aRetriedBodyBeginsItsPreviewsAnew() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        let url = PipelineFixture.url("retried")
        let gate = ScriptedTransportGate()
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let length: HTTPHeaders = ["Content-Length": "\(data.count)"]
        let reset = DownloadError(.connection(.reset), url: url)
        fixture.transport.answer(
            url,
            with: .init(headers: length, steps: [.chunk(data.dropLast(50)), .fail(reset)]),
            .init(headers: length, steps: [.chunk(data.prefix(20)), .wait(gate), .chunk(data.dropFirst(20))]))
        var request = ImageRequest(url)
        request.wantsPreviews = true
        let task = fixture.pipeline.task(for: request)
        try await fixture.transport.waitForRequests(2)
        let previews = Counter()
        task.observePreviews { previews.increment() }
        // The first attempt's bytes are of no use any more, however long the second one takes.
        for _ in 0..<2000 { await Task.yield() }
        gate.open()
        #expect(try await task.response.image.size == PixelSize(48, 32))
        #expect(previews.value <= 3)
    }

    @Test func withoutAskingThereAreNoPreviews() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        let url = try fixture.serve("jpeg/progressive.jpg")
        for try await event in fixture.pipeline.events(for: ImageRequest(url)) {
            if case .preview = event { Issue.record("a preview") }
        }
    }

    @Test func eventsOfAFailureThrow() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("nothing")
        await #expect {
            for try await _ in fixture.pipeline.events(for: ImageRequest(url)) {}
        } throws: {
            ($0 as? ImagePipelineError)?.code == "httpStatus"
        }
    }

    @Test func statusFollowsTheLoad() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let task = fixture.pipeline.task(for: ImageRequest(url))
        #expect(task.status == .running(nil))
        gate.open()
        _ = try await task.response
        #expect(task.status == .finished)
        let failed = fixture.pipeline.task(for: ImageRequest(PipelineFixture.url("nothing")))
        _ = try? await failed.response
        #expect(failed.status == .failed)
    }

    @Test func aBodyLongerThanDeclaredIsComplete() {
        #expect(LoadProgress(received: 3, expected: 2).fraction == 1)
        #expect(LoadProgress(received: 1, expected: 2).fraction == 0.5)
        #expect(LoadProgress(received: 1, expected: 0).fraction == nil)
        #expect(LoadProgress(received: 1, expected: nil).fraction == nil)
    }
}

extension Lock<[Int]> {
    /// Adds the number of bytes of a progress.
    fileprivate func add(_ event: ImageEvent) {
        if case .progress(let progress) = event { withLock { $0.append(progress.received) } }
    }
}

extension ImageTask {
    /// Calls back for each preview, the latest at once.
    fileprivate func observePreviews(_ body: @escaping @Sendable () -> Void) {
        Task { [self] in
            for try await event in events {
                if case .preview = event { body() }
            }
        }
    }
}
