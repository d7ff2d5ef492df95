import Foundation
import HalcyonTesting
import Observation
import TestSupport
import Testing

@testable import Halcyon

/// The state that any user interface can follow.
@MainActor @Suite(.timeLimit(.minutes(5))) struct RemoteImageTests {
    private let fixture = PipelineFixture()

    /// Waits for a state.
    @discardableResult private func wait(
        for snapshots: AsyncStream<RemoteImage.Snapshot>, until isReached: (RemoteImage.Snapshot) -> Bool
    ) async throws -> RemoteImage.Snapshot {
        for await snapshot in snapshots where isReached(snapshot) { return snapshot }
        throw CancellationError()
    }

    private func image(_ width: Int, height: Int = 1) throws -> Image {
        try Image(
            width: width, height: height, pixels: [UInt8](repeating: 255, count: width * height * 4))
    }

    private func serve(_ name: String, width: Int, height: Int = 1, gate: ScriptedTransportGate? = nil) throws -> URL {
        let url = PipelineFixture.url(name)
        var answer = ScriptedTransport.Answer.data(try image(width, height: height).data(as: .png))
        answer.headGate = gate
        fixture.transport.answer(url, with: answer)
        return url
    }

    private func isDrained() async { while await fixture.pipeline.jobCount > 0 { await Task.yield() } }

    // MARK: - The way of a load

    @Test func placeholderProgressAndImageAreSeen() async throws {
        let data = try TestFiles.data("png/rgb8.png")
        let (url, gate, half) = (PipelineFixture.url("slow.png"), ScriptedTransportGate(), data.count / 2)
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(half)), .wait(gate), .chunk(data.dropFirst(half))]))
        let remote = RemoteImage(pipeline: fixture.pipeline)
        #expect(!remote.isLoading && remote.image == nil && remote.request == nil)
        let snapshots = remote.snapshots
        remote.load(url, options: .init(placeholder: .image(try image(7))))
        #expect(remote.isLoading && remote.progress == nil && remote.size == PixelSize(7, 1))
        let begun = try await wait(for: snapshots) { $0.progress?.received ?? 0 > 0 }
        #expect(begun.progress?.fraction == Double(half) / Double(data.count) && begun.size == PixelSize(7, 1))
        #expect(remote.progress == begun.progress && begun.isLoading && begun.error == nil)
        gate.open()
        let shown = try await wait(for: snapshots) { !$0.isLoading }
        let size = try await fixture.pipeline.image(for: url).size
        guard case .showing = shown.state else { return #expect(Bool(false)) }
        #expect(shown.size == size && remote.size == size && remote.progress == nil && remote.error == nil)
    }

    @Test func previewsAreSeenAndNeverStay() async throws {
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let fixture = PipelineFixture { $0.coders = .standard() }
        let (url, gate) = (PipelineFixture.url("scans.jpg"), ScriptedTransportGate())
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(data.count * 3 / 4)), .wait(gate)]))
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let snapshots = remote.snapshots
        var request = ImageRequest(url)
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        remote.load(request)
        let preview = try await wait(for: snapshots) { $0.image != nil }
        guard case .preview = preview.content else { return #expect(Bool(false), "\(preview.content)") }
        #expect(preview.isLoading && remote.size == preview.size)
        remote.cancel()
        #expect(remote.image == nil && !remote.isLoading)
    }

    @Test func anImageInMemoryIsThereInTheSameCall() async throws {
        let url = try serve("a.png", width: 3)
        _ = try await fixture.pipeline.image(for: url)
        let remote = RemoteImage(pipeline: fixture.pipeline)
        remote.load(url, options: .init(placeholder: .image(try image(7))))
        #expect(remote.size == PixelSize(3, 1) && !remote.isLoading)
    }

    @Test func failuresAreSeen() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let snapshots = remote.snapshots
        remote.load(nil, options: .init(failure: .image(try image(9))))
        let failed = try await wait(for: snapshots) { $0.error != nil }
        #expect((failed.error as? ImagePipelineError)?.code == "invalidRequest" && failed.size == PixelSize(9, 1))
        #expect(remote.error != nil && !remote.isLoading)
        remote.clear()
        #expect(remote.error == nil && remote.image == nil && remote.request == nil)
    }

    /// The first load ends after the second: it is shown at no time.
    @Test func lateResultsAreNeverShown() async throws {
        let gate = ScriptedTransportGate()
        let (late, last) = (try serve("late.png", width: 3, gate: gate), try serve("last.png", width: 4))
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let shown = Sizes()
        let observer = Task { [snapshots = remote.snapshots] in
            for await snapshot in snapshots { shown.add(snapshot.size) }
        }
        let snapshots = remote.snapshots
        // It goes on in the background.
        remote.load(late, options: .init(formerLoad: .finish))
        try await fixture.transport.waitForRequests(1)
        remote.load(last)
        try await wait(for: snapshots) { !$0.isLoading }
        gate.open()
        await isDrained()
        #expect(fixture.pipeline.cache.image(inMemoryFor: late) != nil)
        #expect(remote.size == PixelSize(4, 1) && remote.request?.source == ImageRequest(last).source)
        remote.clear()
        observer.cancel()
        await observer.value
        #expect(!shown.all.contains(PixelSize(3, 1)) && shown.all.contains(PixelSize(4, 1)))
    }

    @MainActor private final class Sizes {
        private(set) var all: [PixelSize?] = []
        func add(_ size: PixelSize?) { all.append(size) }
    }

    // MARK: - The same again

    /// A view's body binds its request each time that it runs: nothing may change by it, or it would run for ever.
    @Test func theSameRequestAgainDoesNothing() async throws {
        let gate = ScriptedTransportGate()
        let url = try serve("a.png", width: 3, gate: gate)
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let (snapshots, changes) = (remote.snapshots, Counter())
        let bindAgain = {
            withObservationTracking {
                _ = (remote.state, remote.content, remote.image)
            } onChange: {
                changes.increment()
            }
            let former = changes.value
            for _ in 0..<10 { remote.load(url) }
            #expect(changes.value == former)
        }
        remote.load(url)
        bindAgain()
        gate.open()
        try await wait(for: snapshots) { $0.image != nil && !$0.isLoading }
        bindAgain()
        #expect(fixture.transport.requestCount == 1)
        let missing = PipelineFixture.url("missing.png")
        fixture.transport.answer(missing, with: .status(404))
        remote.load(missing)
        try await wait(for: snapshots) { $0.error != nil }
        remote.load(missing)
        #expect(remote.error != nil && !remote.isLoading && fixture.transport.requestCount == 2)
        remote.load(try serve("b.png", width: 4, gate: ScriptedTransportGate()))
        remote.cancel()
        remote.load(PipelineFixture.url("b.png"))
        #expect(!remote.isLoading)
    }

    @Test func retryLoadsWhatFailedOrWasCancelled() async throws {
        let url = PipelineFixture.url("a.png")
        fixture.transport.answer(url, with: .status(404))
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let snapshots = remote.snapshots
        remote.retry()
        remote.load(url)
        try await wait(for: snapshots) { $0.error != nil }
        // The pipeline remembers the failure, and asks the server all the same.
        _ = try serve("a.png", width: 3)
        remote.retry()
        #expect(remote.isLoading && remote.error == nil)
        try await wait(for: snapshots) { $0.size == PixelSize(3, 1) && !$0.isLoading }
        #expect(fixture.transport.requestCount == 2)
        remote.retry()
        #expect(!remote.isLoading && remote.size == PixelSize(3, 1))

        let gate = ScriptedTransportGate()
        let second = try serve("b.png", width: 4, gate: gate)
        remote.load(second)
        remote.cancel()
        #expect(!remote.isLoading)
        remote.retry()
        #expect(remote.isLoading)
        gate.open()
        try await wait(for: snapshots) { $0.size == PixelSize(4, 1) && !$0.isLoading }
    }

    @Test func reloadAsksTheServerAndKeepsTheImage() async throws {
        let url = try serve("a.png", width: 3)
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let snapshots = remote.snapshots
        remote.reload()
        #expect(!remote.isLoading)
        remote.load(url)
        try await wait(for: snapshots) { !$0.isLoading }
        let gate = ScriptedTransportGate()
        _ = try serve("a.png", width: 5, gate: gate)
        remote.reload()
        #expect(remote.isLoading && remote.size == PixelSize(3, 1))
        gate.open()
        try await wait(for: snapshots) { $0.size == PixelSize(5, 1) && !$0.isLoading }
        // A load that was cancelled is the one that is loaded again, not the image before it.
        let held = ScriptedTransportGate()
        remote.load(try serve("b.png", width: 6, gate: held), options: .init(keepsCurrent: true))
        remote.cancel()
        #expect(remote.size == PixelSize(5, 1))
        held.open()
        remote.reload()
        try await wait(for: snapshots) { $0.size == PixelSize(6, 1) && !$0.isLoading }
    }

    // MARK: - Observation

    @Test func observersAreToldOfWhatTheyRead() async throws {
        let data = try TestFiles.data("png/rgb8.png")
        let (url, gate, half) = (PipelineFixture.url("slow.png"), ScriptedTransportGate(), data.count / 2)
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(half)), .wait(gate), .chunk(data.dropFirst(half))]))
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let (snapshots, images, states) = (remote.snapshots, Counter(), Counter())
        remote.load(url)
        withObservationTracking {
            _ = remote.size
        } onChange: {
            images.increment()
        }
        withObservationTracking {
            _ = remote.progress
        } onChange: {
            states.increment()
        }
        try await wait(for: snapshots) { $0.progress != nil }
        #expect(images.value == 0 && states.value == 1)
        gate.open()
        try await wait(for: snapshots) { !$0.isLoading }
        #expect(images.value == 1)
    }

    @Test func anObserverSeesTheNewState() throws {
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let seen = Counter()
        withObservationTracking {
            _ = remote.image
        } onChange: {
            MainActor.assumeIsolated { if remote.image != nil { seen.increment() } }
        }
        remote.show(try image(3))
        #expect(seen.value == 1)
    }

    @Test func aSlowReaderGetsTheNewestState() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let snapshots = remote.snapshots
        for width in 1...100 { remote.show(try image(width)) }
        let newest = try await wait(for: snapshots) { _ in true }
        #expect(newest.size == PixelSize(100, 1))
    }

    // MARK: - The end

    @Test func nothingIsKeptAlive() async throws {
        let url = try serve("a.png", width: 3, gate: ScriptedTransportGate())
        var remote: RemoteImage? = RemoteImage(pipeline: fixture.pipeline)
        weak let weakRemote = remote
        weak let weakTarget = remote?.target
        let snapshots = try #require(remote).snapshots
        let reader = Task {
            var count = 0
            for await _ in snapshots { count += 1 }
            return count
        }
        remote?.load(url)
        try await fixture.transport.waitForRequests(1)
        remote = nil
        #expect(weakRemote == nil && weakTarget == nil)
        #expect(await reader.value > 0)
        while fixture.transport.cancelled.isEmpty { await Task.yield() }
        #expect(fixture.transport.cancelled.count == 1)
    }

    @Test func aPlayingAnimationKeepsNothingAlive() async throws {
        let clock = ManualClock()
        var remote: RemoteImage? = RemoteImage(pipeline: fixture.pipeline, time: clock.timeSource)
        remote?.show(try Film().image(frames: 4))
        try await clock.waitForSleepers()
        weak let weakRemote = remote
        weak let weakPlayer = remote?.player
        #expect(weakPlayer != nil)
        remote = nil
        #expect(weakRemote == nil && weakPlayer == nil)
    }

    @Test func aReaderThatLeavesIsForgotten() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline)
        let reader = Task { [snapshots = remote.snapshots] in
            for await _ in snapshots {}
        }
        #expect(remote.readerCount == 1)
        reader.cancel()
        await reader.value
        while remote.readerCount > 0 { await Task.yield() }
    }
}
