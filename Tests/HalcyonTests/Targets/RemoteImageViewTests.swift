import Foundation
import HalcyonTesting
import Observation
import TestSupport
import Testing

@testable import Halcyon

/// The room, the visibility and the animations of a state that any user interface can follow.
@MainActor @Suite(.timeLimit(.minutes(5))) struct RemoteImageViewTests {
    private let fixture = PipelineFixture()
    private let clock = ManualClock()
    /// A clock that counts seconds counts it exactly.
    private static let unit = Duration.milliseconds(125)

    private func serve(_ side: Int) throws -> URL {
        let url = PipelineFixture.url("\(side).png")
        let pixels = [UInt8](repeating: 255, count: side * side * 4)
        fixture.transport.answer(url, with: .data(try Image(width: side, height: side, pixels: pixels).data(as: .png)))
        return url
    }

    private func isSettled(_ remote: RemoteImage) async {
        while remote.target.isLoading { await Task.yield() }
    }

    // MARK: - The room

    @Test func withoutARoomAnImageHasItsOwnSize() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline)
        remote.load(try serve(80))
        await isSettled(remote)
        #expect(remote.size == PixelSize(80, 80))
    }

    @Test func anImageIsLoadedForItsRoom() async throws {
        let url = try serve(80)
        let remote = RemoteImage(pipeline: fixture.pipeline, room: .unknown)
        remote.load(url)
        #expect(remote.isLoading && remote.target.loadPriority == nil)
        remote.room = .pixels(PixelSize(0, 20))
        #expect(remote.isLoading && remote.target.loadPriority == nil)
        remote.room = .pixels(PixelSize(20, 20))
        await isSettled(remote)
        #expect(remote.size == PixelSize(20, 20))
        // The view grows: the image stays until there is a larger one, and nobody is told of the load.
        remote.room = .pixels(PixelSize(40, 40))
        remote.target.renew()
        #expect(!remote.isLoading && remote.size == PixelSize(20, 20))
        await isSettled(remote)
        #expect(remote.size == PixelSize(40, 40))
        // It has all of its pixels now, and more than those there is not.
        remote.room = .unlimited
        remote.target.renew()
        await isSettled(remote)
        #expect(remote.size == PixelSize(80, 80) && fixture.transport.requestCount == 1)
    }

    @Test func theFitDeterminesTheSize() async throws {
        let url = PipelineFixture.url("wide.png")
        let pixels = [UInt8](repeating: 255, count: 80 * 40 * 4)
        fixture.transport.answer(url, with: .data(try Image(width: 80, height: 40, pixels: pixels).data(as: .png)))
        let remote = RemoteImage(pipeline: fixture.pipeline, room: .pixels(PixelSize(20, 20)))
        remote.load(url)
        await isSettled(remote)
        #expect(remote.size == PixelSize(20, 10))
        remote.contentFit = .cover
        remote.target.renew()
        await isSettled(remote)
        #expect(remote.size == PixelSize(20, 20))
    }

    @Test func whatCannotBeSeenComesLater() throws {
        let url = PipelineFixture.url("held.png")
        fixture.transport.answer(url, with: .status(404).held(by: ScriptedTransportGate()))
        let remote = RemoteImage(pipeline: fixture.pipeline)
        remote.priority = .high
        remote.load(url)
        #expect(remote.target.loadPriority == .high)
        remote.isVisible = false
        #expect(remote.target.loadPriority == .low)
        remote.isVisible = true
        #expect(remote.target.loadPriority == .high)
    }

    // MARK: - Animations

    private func film(frames: Int = 4, loops: Int = 0) throws -> Image {
        try Film().image(frames: frames, unit: Self.unit, loops: loops)
    }

    /// Waits until a frame is shown and the next one is waited for.
    private func frame(_ index: Int, of remote: RemoteImage) async throws {
        while Film.index(of: remote.image) != index { await Task.yield() }
        try await clock.waitForSleepers()
    }

    @Test func framesComeWhenTheyAreDue() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline, time: clock.timeSource)
        let (snapshots, changes) = (remote.snapshots, Counter())
        remote.show(try film())
        for index in [0, 1, 2, 3, 0] {
            try await frame(index, of: remote)
            withObservationTracking {
                _ = remote.image
            } onChange: {
                changes.increment()
            }
            clock.advance(by: Self.unit)
        }
        try await frame(1, of: remote)
        #expect(changes.value == 5)
        for await snapshot in snapshots {
            #expect(Film.index(of: snapshot.image) == 1)
            break
        }
    }

    @Test func anAnimationPausesWhileItCannotBeSeen() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline, time: clock.timeSource)
        // An endless one would join where it would be by now.
        remote.show(try film(loops: 9))
        try await frame(0, of: remote)
        clock.advance(by: Self.unit)
        try await frame(1, of: remote)
        remote.isVisible = false
        #expect(remote.player?.isPlaying == false)
        clock.advance(by: Self.unit * 2)
        #expect(Film.index(of: remote.image) == 1)
        remote.isVisible = true
        #expect(remote.player?.isPlaying == true)
        try await frame(1, of: remote)
        clock.advance(by: Self.unit)
        try await frame(2, of: remote)
        // The program has stopped it: it stays so.
        remote.player?.stop()
        remote.isVisible = false
        remote.isVisible = true
        #expect(remote.player?.isPlaying == false)
    }

    @Test func aSoughtFrameIsShownByAStoppedPlayer() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline, time: clock.timeSource)
        remote.show(try film())
        try await frame(0, of: remote)
        remote.player?.stop()
        remote.player?.seek(to: 3)
        while Film.index(of: remote.image) != 3 { await Task.yield() }
        #expect(remote.player?.isPlaying == false)
    }

    @Test func theLastFrameStays() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline, time: clock.timeSource)
        remote.show(try film(frames: 2, loops: 1))
        try await frame(0, of: remote)
        clock.advance(by: Self.unit)
        try await frame(1, of: remote)
        clock.advance(by: Self.unit)
        while remote.player?.isPlaying == true { await Task.yield() }
        #expect(Film.index(of: remote.image) == 1)
        // Another image ends the player.
        remote.show(Image(bitmap: try Film.bitmap(9), info: try film().info))
        #expect(remote.player == nil && Film.index(of: remote.image) == 9)
    }

    @Test func animationsAreStillWithoutPlayback() throws {
        let remote = RemoteImage(pipeline: fixture.pipeline, time: clock.timeSource)
        remote.playback = nil
        remote.show(try film())
        #expect(remote.player == nil && Film.index(of: remote.image) == 0)
    }

    /// A closure of the player shows another image, in the middle of the player's work.
    @Test func aCallbackMayShowAnotherImage() async throws {
        let remote = RemoteImage(pipeline: fixture.pipeline, time: clock.timeSource)
        remote.show(try film(frames: 2, loops: 1))
        try await frame(0, of: remote)
        let other = Image(bitmap: try Film.bitmap(9), info: try film().info)
        remote.player?.onEnd = { remote.show(other) }
        clock.advance(by: Self.unit)
        try await frame(1, of: remote)
        clock.advance(by: Self.unit)
        while remote.player != nil { await Task.yield() }
        #expect(Film.index(of: remote.image) == 9)
    }

    @Test func anAnimationContinuesAtAnotherSize() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        let remote = RemoteImage(pipeline: fixture.pipeline, room: .pixels(PixelSize(8, 8)), time: clock.timeSource)
        remote.playback?.repeatCount = .infinite
        remote.load(url)
        await isSettled(remote)
        remote.player?.seek(to: 3)
        while remote.player?.currentFrameIndex != 3 { await Task.yield() }
        let former = remote.player
        remote.room = .pixels(PixelSize(16, 16))
        remote.target.renew()
        await isSettled(remote)
        #expect(remote.player !== former && remote.player?.currentFrameIndex == 3)
        #expect(remote.player?.isPlaying == true)
    }
}
