import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// Views in real windows.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ImageViewTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    private func size(_ view: ImageView) -> PixelSize {
        PixelSize(
            Int(gdk_paintable_get_intrinsic_width(view.image.paintable.pointer)),
            Int(gdk_paintable_get_intrinsic_height(view.image.paintable.pointer)))
    }

    @Test func anImageInMemoryIsOnTheViewInTheSameCall() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let image = try await fixture.pipeline.image(for: url)
        try Window.requireScreen()
        let view = ImageView()
        let ends = Ends()
        view.setImage(
            from: url, placeholder: .image(try Colors.image(Colors.red, 3, 3)), transition: .fade(),
            pipeline: fixture.pipeline, completion: ends.callback)
        // The size that there is; the right one once the view has a size.
        #expect(ends.count == 0 && size(view) == image.size)
        let window = try Window(view.widget)
        window.show()
        await Window.run { ends.count == 1 }
        #expect(ends.all == ["shown"] && size(view) == image.size)
        // From then on it is there at once.
        view.setImage(from: try fixture.serve("png/rgba8.png"), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 2 }
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(ends.count == 3 && size(view) == image.size)
        window.close()
    }

    @Test func aRequestsOwnSizeNeedsNoLayout() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let request = wide(url)
        _ = try await fixture.pipeline.image(for: request)
        try Window.requireScreen()
        let view = ImageView()
        let ends = Ends()
        view.setImage(request, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(ends.all == ["shown"])
    }

    /// With a size of its own, larger than any image here.
    private func wide(_ url: URL) -> ImageRequest {
        var request = ImageRequest(url)
        request.decode.target = TargetSize(PixelSize(1000, 1000))
        return request
    }

    @Test func imagesAreLoadedAtTheViewsSize() async throws {
        let url = PipelineFixture.url("large.png")
        fixture.transport.answer(url, with: .data(try Colors.image(Colors.red, 800, 400).data(as: .png)))
        try Window.requireScreen()
        let (view, fixed) = (ImageView(), gtk_fixed_new())
        gtk_fixed_put(UnsafeMutableRawPointer(fixed)?.assumingMemoryBound(to: GtkFixed.self), view.widget, 0, 0)
        let window = try Window(try #require(fixed))
        let ends = Ends()
        func resize(_ width: Int32, _ height: Int32) async {
            gtk_widget_set_size_request(view.widget, width, height)
            await Window.run { gtk_widget_get_width(view.widget) == width }
            // The view hears of a layout through the inbox, and other tests run the same loop.
            var hasHeard = false
            MainInbox.shared.add { hasHeard = true }
            await Window.run { hasHeard }
        }
        gtk_widget_set_size_request(view.widget, 200, 200)
        window.show()
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(fixture.transport.requestCount == 0)
        await Window.run { ends.count == 1 }
        #expect(view.content.image?.size == PixelSize(200, 100))
        // A little more is stretched, a lot more is loaded, less is there already.
        await resize(240, 240)
        await resize(400, 400)
        await Window.run { view.content.image?.width == 400 }
        await resize(100, 100)
        view.contentFit = .cover
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 2 }
        #expect(view.content.image?.size == PixelSize(100, 100) && fixture.transport.requestCount == 1)
        window.close()
    }

    /// A parent that gives the view what its image wants, which is nothing before there is one.
    @Test func aViewWithoutASizeTakesThatOfItsImage() async throws {
        let url = try fixture.serve("png/rgb8.png")
        try Window.requireScreen()
        let view = ImageView()
        gtk_widget_set_halign(view.widget, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(view.widget, GTK_ALIGN_CENTER)
        let window = try Window(view.widget)
        window.show()
        let ends = Ends()
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        let image = try await fixture.pipeline.image(for: url)
        await Window.run { gtk_widget_get_height(view.widget) == image.height }
        #expect(ends.all == ["shown"] && size(view) == image.size)
        window.close()
    }

    /// The view's player is its user's too.
    @Test func whatItsUserDoesToThePlayerIsSeen() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let view = ImageView()
        view.playback.repeatCount = .infinite
        let window = try Window(view.widget)
        window.show()
        view.setImage(wide(url), pipeline: fixture.pipeline)
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

    @Test func aLoadThatWaitsForALayoutEndsOnce() async throws {
        let url = try fixture.serve("png/rgb8.png")
        try Window.requireScreen()
        var view: ImageView? = ImageView()
        let ends = Ends()
        for _ in 0..<2 { view?.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback) }
        #expect(ends.all == ["superseded"])
        view?.cancel()
        #expect(ends.all == ["superseded", "cancelled"])
        guard case .empty = view?.state else { return #expect(Bool(false), "it is still loading") }
        view?.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        view = nil
        #expect(ends.all == ["superseded", "cancelled", "cancelled"])
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func placeholderThenImageByATransition() async throws {
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        try Window.requireScreen()
        let view = ImageView()
        let window = try Window(view.widget)
        window.show()
        let ends = Ends()
        view.setImage(
            ImageRequest(url),
            options: .init(
                placeholder: .image(try Colors.image(Colors.red, 3, 3)), transition: .fade(.milliseconds(50)),
                waitsForTransition: true),
            pipeline: fixture.pipeline, completion: ends.callback)
        #expect(size(view) == PixelSize(3, 3))
        await Window.run { gtk_widget_get_mapped(view.widget) != 0 }
        gate.open()
        await Window.run { ends.count == 1 }
        let image = try await fixture.pipeline.image(for: url)
        #expect(ends.all == ["shown"] && size(view) == image.size)
        window.close()
    }

    @Test func aWidgetMayStandIn() async throws {
        let url = try fixture.serve("png/rgb8.png")
        try Window.requireScreen()
        let view = ImageView()
        let ends = Ends()
        var made = 0
        view.setImage(
            from: url,
            placeholder: .widget {
                made += 1
                return gtk_spinner_new()
            }, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(made == 1 && children(view) == 2)
        let window = try Window(view.widget)
        window.show()
        await Window.run { ends.count == 1 }
        #expect(children(view) == 1)
        window.close()
    }

    @Test func anIndicatorIsThereForAsLongAsItLoads() async throws {
        let data = try TestFiles.data("png/rgb8.png")
        let (first, second) = (data.prefix(data.count / 2), data.dropFirst(data.count / 2))
        try Window.requireScreen()
        for indicator in [Indicator.spinner, .progressBar, .image(try Colors.image(Colors.red, 3, 3))] {
            let gate = ScriptedTransportGate()
            let url = PipelineFixture.url("slow\(UUID().uuidString).png")
            fixture.transport.answer(
                url,
                with: .init(
                    headers: ["Content-Length": "\(data.count)"], steps: [.chunk(first), .wait(gate), .chunk(second)]))
            let view = ImageView()
            var updates: [Double?] = []
            var counted = indicator
            counted.update = { widget, progress in
                updates.append(progress)
                indicator.update(widget, progress)
            }
            let ends = Ends()
            view.loadingIndicator = counted
            view.setImage(wide(url), pipeline: fixture.pipeline, completion: ends.callback)
            #expect(children(view) == 2)
            await Window.run { !updates.isEmpty }
            #expect(children(view) == 2 && updates.allSatisfy { $0 != nil })
            gate.open()
            await Window.run { ends.count == 1 }
            #expect(children(view) == 1 && ends.all == ["shown"])
        }
    }

    @Test func aViewMayStayWithItsWidget() async throws {
        try Window.requireScreen()
        weak var gone: ImageView?
        let window: Window
        do {
            let view = ImageView()
            gone = view
            view.showImage(try Colors.image(Colors.red, 3, 3))
            view.staysWithItsWidget()
            window = try Window(view.widget)
        }
        #expect(gone != nil)
        window.show()
        await Window.run { gone.map { gtk_widget_get_mapped($0.widget) != 0 } ?? true }
        #expect(gone.map { size($0) } == PixelSize(3, 3))
        window.close()
        await Window.run { gone == nil }
    }

    @Test func whatIsNotSeenIsLessUrgent() async throws {
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        try Window.requireScreen()
        let view = ImageView()
        let window = try await Window.showing(view.widget)
        view.setImage(wide(url), pipeline: fixture.pipeline)
        #expect(view.image.target.loadPriority == .normal)
        window.hide()
        #expect(view.image.target.loadPriority == .low)
        window.show()
        await Window.run { view.image.target.loadPriority == .normal }
        window.close()
    }

    private func children(_ view: ImageView) -> Int {
        var (count, child) = (0, gtk_widget_get_first_child(view.widget))
        while let widget = child {
            count += 1
            child = gtk_widget_get_next_sibling(widget)
        }
        return count
    }

    /// T-50.
    @Test func animationsPlayWhileTheyAreSeen() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let view = ImageView()
        view.playback.repeatCount = .infinite
        let window = try Window(view.widget)
        let ends = Ends()
        view.setImage(wide(url), pipeline: fixture.pipeline, completion: ends.callback)
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
        view.setImage(wide(url), pipeline: fixture.pipeline, completion: ends.callback)
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
        var request = wide(url)
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

    /// Nor in a parent that is not seen.
    @Test func whatIsTransparentStandsStill() async throws {
        let url = try fixture.serve("animation/mixed.gif")
        try Window.requireScreen()
        let view = AnimatedImageView()
        view.repeatCount = .infinite
        let parent = try #require(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
        gtk_box_append(UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GtkBox.self), view.widget)
        let window = try await Window.showing(parent)
        view.setImage(wide(url), pipeline: fixture.pipeline)
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
        view.setImage(wide(url), pipeline: fixture.pipeline, completion: ends.callback)
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

    /// Whoever is told may ask for something else there and then.
    @Test func aCallbackMayShowAnotherImage() async throws {
        let sizes = [PixelSize(5, 1), PixelSize(6, 1)]
        let urls = try sizes.map { size in
            let url = PipelineFixture.url("\(size.width).png")
            fixture.transport.answer(
                url, with: .data(try Colors.image(Colors.blue, size.width, size.height).data(as: .png)))
            return url
        }
        try Window.requireScreen()
        let view = ImageView()
        let window = try await Window.showing(view.widget)
        let (first, second) = (Ends(), Ends())
        // The end of a transition, told because another image takes its place.
        view.setImage(
            ImageRequest(urls[0]),
            options: .init(transition: .fade(.seconds(3600)), waitsForTransition: true), pipeline: fixture.pipeline
        ) { end in
            first.callback(end)
            view.setImage(self.wide(urls[1]), pipeline: self.fixture.pipeline, completion: second.callback)
        }
        await Window.run { if case .showing = view.state { true } else { false } }
        _ = try await fixture.pipeline.image(for: wide(urls[1]))
        view.showImage(try Colors.image(Colors.red, 3, 3))
        #expect(first.all == ["shown"] && second.all == ["shown"])
        #expect(size(view) == sizes[1] && view.content.image?.size == sizes[1])
        guard case .showing(let response) = view.state, response.image.size == sizes[1] else {
            return #expect(Bool(false), "\(view.state)")
        }
        window.close()
    }

    @Test func aViewThatGoesLeavesNothing() async throws {
        let gate = ScriptedTransportGate()
        let (url, held) = (try fixture.serve("animation/mixed.gif"), try fixture.serve("png/rgb8.png", gate: gate))
        try Window.requireScreen()
        weak var gone: ImageView?
        let ends = Ends()
        do {
            let view = ImageView()
            gone = view
            let window = try Window(view.widget)
            window.show()
            view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
            await Window.run { ends.count == 1 && view.player?.isPlaying == true }
            view.setImage(
                ImageRequest(held), options: .init(keepsCurrent: true), pipeline: fixture.pipeline,
                completion: ends.callback)
            await Window.run { fixture.transport.requestCount == 2 }
            window.close()
        }
        await Window.run { gone == nil && ends.count == 2 }
        #expect(ends.all.last == "cancelled")
        await Window.run { FramePool.shared.keptBytes == 0 }
    }

    @Test func aProgramsOwnTransition() async throws {
        let url = try fixture.serve("png/rgb8.png")
        try Window.requireScreen()
        let view = ImageView()
        let window = try await Window.showing(view.widget)
        let animator = Animator()
        let ends = Ends()
        view.setImage(
            from: url, transition: ImageTransition(.custom(animator), duration: .milliseconds(40)),
            pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { animator.steps.last == "complete" }
        #expect(animator.steps.first == "prepare" && animator.steps.filter { $0 == "complete" }.count == 1)
        #expect(animator.steps.dropFirst().first == "0.0" && animator.steps.suffix(2).first == "1.0")
        window.close()
    }

    private final class Animator: ImageTransitionAnimator {
        var steps: [String] = []
        func prepare(_ surface: AnyObject) { steps.append("prepare") }
        func animate(_ surface: AnyObject, progress: Double) { steps.append("\(progress)") }
        func complete(_ surface: AnyObject) { steps.append("complete") }
    }
}
