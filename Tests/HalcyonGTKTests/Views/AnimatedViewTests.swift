import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// Animations in real windows.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct AnimatedViewTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    private func serve(_ data: Data, _ name: String = "greys.gif") -> URL {
        let url = PipelineFixture.url(name)
        fixture.transport.answer(url, with: .data(data))
        return url
    }

    /// A view that shows an animation which has been loaded.
    private func shown(_ data: Data, _ prepare: (AnimatedImageView) -> Void = { _ in }) async throws
        -> (AnimatedImageView, Window)
    {
        try Window.requireScreen()
        let view = AnimatedImageView()
        prepare(view)
        let window = try await Window.showing(view.widget)
        let ends = Ends()
        view.setImage(.wide(serve(data)), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        return (view, window)
    }

    /// The view's player is its user's too.
    @Test func manualPlayerChangesSurviveRemapping() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let view = ImageView()
        view.playback.repeatCount = .infinite
        let window = try Window(view.widget)
        window.show()
        view.setImage(.wide(url), pipeline: fixture.pipeline)
        await Window.run { view.player?.currentFrameIndex ?? 0 > 1 }
        let player = try #require(view.player)
        player.stop()
        player.seek(to: 5)
        await Window.run { player.currentFrameIndex == 5 }
        window.hide()
        window.show()
        await Window.run { gtk_widget_get_mapped(view.widget) != 0 }
        #expect(!player.isPlaying)
        player.play()
        await Window.run { player.currentFrameIndex != 5 }
        window.close()
    }

    /// T-50.
    @Test func animationsPlayWhileTheyAreSeen() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let view = ImageView()
        view.playback.repeatCount = .infinite
        let window = try Window(view.widget)
        let ends = Ends()
        view.setImage(.wide(url), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        let player = try #require(view.player)
        #expect(!player.isPlaying)
        window.show()
        var seen: Set<Int> = []
        await Window.run {
            seen.insert(player.currentFrameIndex)
            return seen.count == player.frameCount
        }
        #expect(player.isPlaying)
        window.hide()
        #expect(!player.isPlaying)
        window.show()
        await Window.run { player.isPlaying }
        // A still image takes its place, and back.
        view.setImage(from: try fixture.serve("png/rgb8.png"), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 2 }
        #expect(view.player == nil && !player.isPlaying)
        view.setImage(.wide(url), pipeline: fixture.pipeline, completion: ends.callback)
        #expect(ends.count == 3 && view.player?.isPlaying == true)
        window.close()
    }

    /// The frames that are there are played, and then those that come.
    @Test func anAnimationPlaysWhileItArrives() async throws {
        let data = try TestFiles.data("animation/mixed.gif")
        let gate = ScriptedTransportGate()
        let url = PipelineFixture.url("arriving.gif")
        let half = data.count / 2
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(half)), .wait(gate), .chunk(data.dropFirst(half))]))
        try Window.requireScreen()
        let view = AnimatedImageView()
        view.repeatCount = .infinite
        let window = try await Window.showing(view.widget)
        let ends = Ends()
        var request = ImageRequest.wide(url)
        request.wantsPreviews = true
        view.setImage(
            request, options: .init(transition: .fade()), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { view.player?.currentFrameIndex ?? 0 > 0 }
        let player = try #require(view.player)
        let some = player.frameCount
        #expect(ends.count == 0 && view.isPlaying)
        gate.open()
        await Window.run { ends.count == 1 }
        // The same one, at the same place.
        #expect(view.player === player && player.frameCount > some && view.isPlaying)
        await Window.run { player.currentFrameIndex >= some }
        window.close()
    }

    /// Another animation of the same size takes the place of one whose frames have not all arrived: it is not a longer version
    /// of the same one.
    @Test(arguments: [true, false]) func newAnimationReplacesPartialOneOfEqualSize(isInMemory: Bool) async throws {
        let data = try TestFiles.data("animation/mixed.gif")
        let (former, other) = (PipelineFixture.url("former.gif"), serve(data, "other.gif"))
        let half = data.count / 2
        fixture.transport.answer(
            former,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(half)), .wait(ScriptedTransportGate())]))
        try Window.requireScreen()
        let view = AnimatedImageView()
        view.repeatCount = .infinite
        let window = try await Window.showing(view.widget)
        if isInMemory { _ = try await fixture.pipeline.image(for: .wide(other)) }
        var request = ImageRequest.wide(former)
        request.wantsPreviews = true
        view.setImage(request, pipeline: fixture.pipeline)
        await Window.run { view.player?.currentFrameIndex ?? 0 > 0 }
        let player = try #require(view.player)
        let ends = Ends()
        view.setImage(
            .wide(other), options: .init(placeholderTiming: .onFailure), pipeline: fixture.pipeline,
            completion: ends.callback)
        await Window.run { ends.count == 1 }
        #expect(view.player != nil && view.player !== player)
        window.close()
    }

    /// Nor in a parent that is not seen.
    @Test func transparentViewPausesAnimation() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let view = AnimatedImageView()
        view.repeatCount = .infinite
        let parent = try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
        gtk_box_append(UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GtkBox.self), view.widget)
        let window = try await Window.showing(parent)
        view.setImage(.wide(url), pipeline: fixture.pipeline)
        await Window.run { view.isPlaying }
        for widget in [parent, view.widget] {
            gtk_widget_set_opacity(widget, 0)
            #expect(!view.isPlaying)
            gtk_widget_set_opacity(widget, 0.5)
            #expect(view.isPlaying)
        }
        window.close()
    }

    @Test func anAnimatedViewMayWaitForItsUser() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let view = AnimatedImageView()
        view.autoPlay = false
        view.repeatCount = .once
        view.backgroundDecode = false
        view.framePreloadCount = 1
        let window = try await Window.showing(view.widget)
        let ends = Ends()
        view.setImage(.wide(url), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        let player = try #require(view.player)
        #expect(!view.isPlaying && player.configuration.framePreloadCount == 1)
        window.hide()
        window.show()
        await Window.run { gtk_widget_get_mapped(view.widget) != 0 }
        #expect(!view.isPlaying)
        view.play()
        await Window.run { player.isOver }
        view.play()
        #expect(view.isPlaying)
        view.stop(rewinding: true)
        #expect(!view.isPlaying && player.loopsRemaining == 1)
        window.close()
    }

    /// T-50: the frames come in the order of the turn there and back, whichever the screen had no time for.
    @Test func bounceModePlaysForwardThenBackward() async throws {
        try Window.requireScreen()
        let view = AnimatedImageView()
        view.playback.mode = .bounce
        let window = try await Window.showing(view.widget)
        var (frames, ends, loops) = ([Int](), 0, [Int?]())
        view.onAnimationEnd = { ends += 1 }
        view.onLoop = { loops.append($0) }
        view.autoPlay = false
        view.showImage(try Greys.image(8, frames: 3, each: .milliseconds(120), loops: 1))
        let player = try #require(view.player)
        player.onFrame = { frames.append($1) }
        view.play()
        await Window.run { ends == 1 }
        var order = [0, 1, 2, 1, 0][...]
        #expect(
            frames.allSatisfy { frame in
                order = order.drop { $0 != frame }
                return order.popFirst() != nil
            }, "\(frames)")
        #expect(frames.last == 0 && loops == [0] && !view.isPlaying)
        window.close()
    }

    /// T-50: a stopped player keeps its frame, drawn and reported, though the decoded ones are released.
    @Test func stoppedAnimationKeepsCurrentFrame() async throws {
        let (view, window) = try await shown(Greys.gif(8, frames: 5, each: .milliseconds(40)))
        let player = try #require(view.player)
        await Window.run { player.currentFrameIndex == 3 }
        view.stop()
        // Its time has gone on until then.
        let index = player.currentFrameIndex
        let drawn = try Rendering(view.paintable, width: 8, height: 8)
        #expect(drawn.isClose(4, 4, [UInt8](repeating: UInt8(index * 20), count: 3) + [255]))
        await Window.run { FramePool.shared.keptBytes == 0 }
        #expect(player.currentFrameIndex == index)
        window.close()
    }

    @Test func aViewMayHaveItsOwnPool() async throws {
        let pool = FramePool(limit: 1 << 20, memoryPressure: nil)
        let data = try Greys.gif(8, frames: 5, each: .milliseconds(40))
        let (view, window) = try await shown(data) { view in
            view.playback.pool = pool
            view.playback.keepsFramesWhenStopped = true
        }
        let player = try #require(view.player)
        await Window.run { player.currentFrameIndex == 3 }
        #expect(pool.keptBytes > 0)
        view.stop()
        #expect(pool.keptBytes > 0)
        player.purgeFrames()
        #expect(pool.keptBytes == 0)
        window.close()
    }

    /// The program's closures come beside the view's own drawing.
    @Test func aProgramMayListenToThePlayer() async throws {
        let (view, window) = try await shown(Greys.gif(8, frames: 5, each: .milliseconds(40)))
        let player = try #require(view.player)
        var drawn: Set<Int> = []
        player.onFrame = { [unowned view] _, index in
            if let rendering = try? Rendering(view.paintable, width: 8, height: 8),
                rendering.isClose(4, 4, [UInt8](repeating: UInt8(index * 20), count: 3) + [255])
            {
                drawn.insert(index)
            }
        }
        await Window.run { drawn.count == 5 }
        window.close()
    }

    /// The animation plays once the view is seen, from the frame that was sought.
    @Test func playBeforeMappingStartsAtSoughtFrame() async throws {
        let data = try Greys.gif(8, frames: 5, each: .seconds(3600))
        try Window.requireScreen()
        let view = AnimatedImageView()
        view.autoPlay = false
        let window = try Window(view.widget)
        let ends = Ends()
        view.setImage(.wide(serve(data)), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        let player = try #require(view.player)
        player.play()
        player.seek(to: 2)
        window.show()
        await Window.run { player.currentFrameIndex == 2 && player.isPlaying }
        window.hide()
        #expect(!player.isPlaying)
        player.seek(to: 4)
        window.show()
        await Window.run { player.currentFrameIndex == 4 && player.isPlaying }
        window.close()
    }

    /// A layer that was not on show when the window went plays when it comes on show.
    @Test func layersThatAreNotOnShow() async throws {
        let (view, window) = try await shown(Greys.gif(8, frames: 5, each: .milliseconds(40)))
        view.highlight.showImage(try Colors.image(Colors.red, 4, 4))
        view.isHighlighted = true
        #expect(!view.isPlaying)
        window.hide()
        window.show()
        await Window.run { gtk_widget_get_mapped(view.widget) != 0 }
        #expect(!view.isPlaying)
        view.isHighlighted = false
        #expect(view.isPlaying)
        window.close()
    }

    /// The part of a long frame's duration that has passed counts when the view is seen again.
    @Test func aLongFrameThatIsSeenInParts() async throws {
        let (view, window) = try await shown(Greys.gif(8, frames: 5, each: .milliseconds(400)))
        let player = try #require(view.player)
        while player.currentFrameIndex == 0 {
            await Window.run { gtk_widget_get_mapped(view.widget) != 0 && player.isPlaying }
            await Window.draw(view.widget, frames: 6)
            window.hide()
            window.show()
        }
        window.close()
    }

    /// A larger image in its place continues at the smaller one's frame, with the settings that its user has made.
    @Test func aResizeKeepsWhatPlays() async throws {
        try Window.requireScreen()
        let view = AnimatedImageView()
        let fixed = try #require(gtk_fixed_new())
        gtk_fixed_put(UnsafeMutableRawPointer(fixed).assumingMemoryBound(to: GtkFixed.self), view.widget, 0, 0)
        gtk_widget_set_size_request(view.widget, 20, 20)
        let window = try await Window.showing(fixed)
        let ends = Ends()
        view.setImage(
            from: serve(try Greys.gif(64, frames: 5, each: .seconds(3600), loops: 3)), pipeline: fixture.pipeline,
            completion: ends.callback)
        await Window.run { ends.count == 1 }
        let former = try #require(view.player)
        #expect(view.content.image?.width == 20 && view.isPlaying)
        (former.rate, former.maximumFrameRate) = (2, 7)
        former.seek(to: 3, loop: 1)
        await Window.run { former.currentFrameIndex == 3 }
        view.stop()
        var states = 0
        view.onStateChange = { _ in states += 1 }
        gtk_widget_set_size_request(view.widget, 60, 60)
        await Window.run { view.content.image?.width == 60 }
        let player = try #require(view.player)
        await Window.run { player.currentFrameIndex == 3 }
        #expect(player !== former && player.rate == 2 && player.maximumFrameRate == 7 && player.loopsRemaining == 2)
        #expect(!view.isPlaying)
        let drawn = try Rendering(view.paintable, width: 8, height: 8)
        #expect(drawn.isClose(4, 4, [60, 60, 60, 255]))
        view.play()
        // The image has no more pixels than these: it is not loaded again.
        gtk_widget_set_size_request(view.widget, 80, 80)
        await Window.run { view.content.image?.width == 64 }
        #expect(view.isPlaying && states == 2)
        window.close()
    }
}
