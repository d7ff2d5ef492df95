import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// T-42, T-29: a load without subscribers stops before its next step, whichever that is.
@Suite(.timeLimit(.minutes(5)))
struct SupersededStepTests {
    /// Cancels a load, waits until nothing is running, and returns how often it ended.
    private func callOff(_ task: ImageTask, of fixture: PipelineFixture, _ goOn: () -> Void) async -> Int {
        let ends = Counter()
        task.cancel()
        goOn()
        do {
            _ = try await task.response
            Issue.record("an image")
        } catch is CancellationError {
            ends.increment()
        } catch {
            Issue.record("\(error)")
        }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        return ends.value
    }

    private func expectNothingKept(_ fixture: PipelineFixture, _ request: ImageRequest) async {
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await fixture.pipeline.cache.cachedLevel(for: request) == nil)
        #expect(fixture.pipeline.cache.image(inMemoryFor: request) == nil)
        #expect(await fixture.pipeline.cache.disk?.count() == 0)
    }

    /// The look for the finished image is under way: neither the source's bytes nor the server are asked.
    @Test func duringTheLookAtTheDiskNothingElseIsAsked() async throws {
        let files = FaultInjectingFileSystem()
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder) {
            $0.cache = ImageCache(disk: DiskCache(folder: folder, fileSystem: files))
        }
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url, processors: [.flip(.vertical)])
        files.hold(.open)
        let task = fixture.pipeline.task(for: request)
        try await files.waitForHeld(.open)
        let (opened, read) = (files.calls(of: .open), files.calls(of: .read))
        #expect(await callOff(task, of: fixture) { files.release(.open) } == 1)
        // The one that was held goes its way on a thread of its own.
        while files.calls(of: .open) == opened { await Task.yield() }
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(files.calls(of: .open) == opened + 1)
        #expect(files.calls(of: .read) == read)
        #expect(fixture.transport.requestCount == 0)
        #expect(fixture.decodes.value == 0)
        await expectNothingKept(fixture, request)
    }

    @Test func duringTheTransferNothingIsDecodedOrKept() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let task = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(1)
        #expect(await callOff(task, of: fixture) {} == 1)
        try await fixture.transport.waitForCancellations(1)
        #expect(fixture.decodes.value == 0)
        await expectNothingKept(fixture, ImageRequest(url))
    }

    /// The bytes are there and looked at: they are not decoded.
    @Test func beforeTheDecodeItStops() async throws {
        let decoder = HeldDecoder(holding: .plan)
        let fixture = PipelineFixture { $0.coders.add(decoder) }
        let url = try fixture.serve("png/rgb8.png")
        let task = fixture.pipeline.task(for: ImageRequest(url))
        try await decoder.hasCome.wait()
        #expect(await callOff(task, of: fixture) { decoder.release() } == 1)
        #expect(decoder.decodes.value == 0)
        await expectNothingKept(fixture, ImageRequest(url))
    }

    /// The pixels are being decoded: no processor runs, and neither cache is given anything.
    @Test(arguments: [CachePolicy.default, .storeProcessed, .keepOriginal])
    func betweenTheDecodeAndTheStoreItStops(policy: CachePolicy) async throws {
        let decoder = HeldDecoder(holding: .decode)
        let fixture = PipelineFixture { $0.coders.add(decoder) }
        let url = try fixture.serve("png/rgb8.png")
        let runs = Counter()
        let request = ImageRequest(url, processors: [CountingProcessor("one", runs: runs)], cachePolicy: policy)
        let task = fixture.pipeline.task(for: request)
        try await decoder.hasCome.wait()
        #expect(await callOff(task, of: fixture) { decoder.release() } == 1)
        #expect(decoder.decodes.value == 1)
        #expect(runs.value == 0)
        await expectNothingKept(fixture, request)
        // The next one is as good as ever.
        #expect(try await fixture.pipeline.response(for: request).origin == .network)
        #expect(runs.value == 1)
    }

    // MARK: - Previews

    /// While a preview is made ten parts come: the next one is made of all of them, and nothing of what lay between.
    @Test func onlyTheNewestPendingPreviewIsDecoded() async throws {
        let decoder = HeldDecoder(holding: .preview)
        let fixture = PipelineFixture { $0.coders.add(decoder) }
        let (url, data) = (PipelineFixture.url("parts"), try TestFiles.data("png/rgb8.png"))
        let part = data.count / 12
        let (goOn, end) = (ScriptedTransportGate(), ScriptedTransportGate())
        var steps: [ScriptedTransport.Answer.Step] = [.chunk(data.prefix(part)), .wait(goOn)]
        for index in 1...10 { steps.append(.chunk(data[(part * index)..<(part * (index + 1))])) }
        steps += [.wait(end), .chunk(data.dropFirst(part * 11))]
        fixture.transport.answer(url, with: .init(headers: ["Content-Length": "\(data.count)"], steps: steps))
        var request = ImageRequest(url)
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        let task = fixture.pipeline.task(for: request)
        try await decoder.hasCome.wait()
        goOn.open()
        for try await event in task.events {
            if case .progress(let progress) = event, progress.received == part * 11 { break }
        }
        // The body's own events follow the progress in the same step of the actor.
        #expect(await fixture.pipeline.runningCount == 1)
        #expect(decoder.previewed.withLock { $0 } == [part])
        decoder.release()
        while decoder.previewed.withLock({ $0.count }) < 2 { await Task.yield() }
        end.open()
        #expect(try await task.response.origin == .network)
        #expect(decoder.previewed.withLock { $0.prefix(2) } == [part, part * 11])
        #expect(decoder.previewed.withLock { $0.count } <= 3)
    }
}
