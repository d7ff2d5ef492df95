import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// The events that are kept for a reader that does not keep up.
@Suite(.timeLimit(.minutes(5)))
struct EventBufferTests {
    /// Loads a body that arrives piece by piece, each after the load has reported the one before; the last one after the first
    /// preview, if any is requested.
    private func load(
        _ fixture: PipelineFixture, _ file: String, pieces: Int, previews: Bool,
        _ body: (_ task: ImageTask, _ begin: () -> Void) async throws -> Void
    ) async throws {
        let data = try TestFiles.data(file)
        let gates = (0..<pieces).map { _ in ScriptedTransportGate() }
        var steps: [ScriptedTransport.Answer.Step] = []
        let ends = (0...pieces).map { data.count * $0 / pieces }
        for (index, gate) in gates.enumerated() {
            steps += [.wait(gate), .chunk(data[ends[index]..<ends[index + 1]])]
        }
        let url = PipelineFixture.url("pieces")
        fixture.transport.answer(url, with: .init(headers: ["Content-Length": "\(data.count)"], steps: steps))
        var request = ImageRequest(url)
        (request.wantsPreviews, request.wantsEveryPreview) = (previews, previews)
        let task = fixture.pipeline.task(for: request)
        let events = task.events
        let feeder = Task {
            var (hasPreview, isLastDue) = (!previews, false)
            for try await event in events {
                if case .preview = event { hasPreview = true }
                if case .progress(let progress) = event, let index = ends.firstIndex(of: progress.received),
                    index < pieces
                {
                    if index < pieces - 1 { gates[index].open() } else { isLastDue = true }
                }
                if hasPreview, isLastDue { gates[pieces - 1].open() }
            }
        }
        try await body(task) { gates[0].open() }
        try await feeder.value
    }

    @Test func unreadProgressKeepsOnlyNewestValue() async throws {
        let fixture = PipelineFixture()
        let size = try TestFiles.data("png/rgb8.png").count
        try await load(fixture, "png/rgb8.png", pieces: 40, previews: false) { task, begin in
            let lazy = task.events
            begin()
            _ = try await task.response
            var events: [String] = []
            for try await event in lazy {
                switch event {
                case .progress(let progress): events.append("\(progress.received)")
                case .preview: events.append("preview")
                case .finished: events.append("finished")
                }
            }
            #expect(events == ["\(size)", "finished"])
        }
    }

    @Test func noPreviewIsLost() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        try await load(fixture, "jpeg/progressive.jpg", pieces: 30, previews: true) { task, begin in
            let (eager, lazy) = (task.events, task.events)
            begin()
            let seen = Task {
                var images: [ObjectIdentifier?] = []
                for try await event in eager { if case .preview = event { images.append(nil) } }
                return images.count
            }
            _ = try await task.response
            var (previews, progress, last) = (0, 0, "")
            for try await event in lazy {
                switch event {
                case .progress: (progress, last) = (progress + 1, "progress")
                case .preview: (previews, last) = (previews + 1, "preview")
                case .finished: last = "finished"
                }
            }
            #expect(previews > 0)
            #expect(previews == (try await seen.value))
            #expect(progress == 1)
            #expect(last == "finished")
        }
    }

    @Test func aFailureComesAfterWhatWasBeforeIt() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("broken")
        fixture.transport.answer(url, with: .init(headers: ["Content-Length": "3"], steps: [.chunk(Data("abc".utf8))]))
        let task = fixture.pipeline.task(for: ImageRequest(url))
        let events = task.events
        _ = try? await task.response
        var progress: [Int] = []
        await #expect(throws: ImagePipelineError.self) {
            for try await event in events {
                if case .progress(let step) = event { progress.append(step.received) }
            }
        }
        #expect(progress == [3])
    }

    /// A reader in a cancelled task ends without an error.
    @Test func aCancelledReaderEndsAndLeavesTheTaskAlone() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let task = fixture.pipeline.task(for: ImageRequest(url))
        let reader = Task {
            var count = 0
            for try await _ in task.events { count += 1 }
            return count
        }
        try await fixture.transport.waitForRequests(1)
        reader.cancel()
        #expect(try await reader.value == 0)
        gate.open()
        #expect(try await task.response.origin == .network)
    }

    @Test func aStreamThatIsDroppedUnreadCancelsThePipelinesLoad() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        do {
            let events = fixture.pipeline.events(for: ImageRequest(url))
            try await fixture.transport.waitForRequests(1)
            _ = events
        }
        try await fixture.transport.waitForCancellations(1)
        while await fixture.pipeline.runningCount > 0 { await Task.yield() }
    }
}
