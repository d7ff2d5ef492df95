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
        #expect(ends.count == 0 && view.pictureSize == image.size)
        let window = try Window(view.widget)
        window.show()
        await Window.run { ends.count == 1 }
        #expect(ends.all == ["shown"] && view.pictureSize == image.size)
        // From then on it is there at once.
        view.setImage(from: try fixture.serve("png/rgba8.png"), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 2 }
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(ends.count == 3 && view.pictureSize == image.size)
        window.close()
    }

    @Test func aRequestsOwnSizeNeedsNoLayout() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest.wide(url)
        _ = try await fixture.pipeline.image(for: request)
        try Window.requireScreen()
        let view = ImageView()
        let ends = Ends()
        view.setImage(request, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(ends.all == ["shown"])
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
        #expect(view.pictureSize == PixelSize(3, 3))
        await Window.run { gtk_widget_get_mapped(view.widget) != 0 }
        gate.open()
        await Window.run { ends.count == 1 }
        let image = try await fixture.pipeline.image(for: url)
        #expect(ends.all == ["shown"] && view.pictureSize == image.size)
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

    @Test func indicatorIsShownWhileImageLoads() async throws {
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
            view.setImage(.wide(url), pipeline: fixture.pipeline, completion: ends.callback)
            #expect(children(view) == 2)
            await Window.run { !updates.isEmpty }
            #expect(children(view) == 2 && updates.allSatisfy { $0 != nil })
            gate.open()
            await Window.run { ends.count == 1 }
            #expect(children(view) == 1 && ends.all == ["shown"])
        }
    }

    @Test func anIndicatorHasASizeAndAPlace() async throws {
        try Window.requireScreen()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let view = ImageView()
        let window = try await Window.showing(view.widget)
        /// The frame of an indicator by its centre, in units from that of the view, and its size.
        func frame(
            _ size: Indicator.Size, _ offset: (Int, Int) = (0, 0), isMirrored: Bool = false, align: GtkAlign? = nil
        ) async throws -> [Int] {
            var made: UnsafeMutablePointer<GtkWidget>?
            var indicator = Indicator(make: {
                let widget: UnsafeMutablePointer<GtkWidget> = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
                gtk_widget_set_size_request(widget, 12, 8)
                gtk_widget_set_direction(widget, isMirrored ? GTK_TEXT_DIR_RTL : GTK_TEXT_DIR_LTR)
                if let align { gtk_widget_set_halign(widget, align) }
                if let align { gtk_widget_set_valign(widget, align) }
                made = widget
                return widget
            })
            indicator.size = size
            indicator.offset = offset
            view.loadingIndicator = indicator
            view.setImage(.wide(url), pipeline: fixture.pipeline)
            let widget = try #require(made)
            await Window.layOut(view.widget)
            let parent = try #require(gtk_widget_get_parent(widget))
            var bounds = graphene_rect_t()
            #expect(gtk_widget_compute_bounds(widget, parent, &bounds) != 0)
            let center = (bounds.origin.x + bounds.size.width / 2, bounds.origin.y + bounds.size.height / 2)
            let middle = (Float(gtk_widget_get_width(parent)) / 2, Float(gtk_widget_get_height(parent)) / 2)
            view.cancel()
            return [
                Int((center.0 - middle.0).rounded(.down)), Int((center.1 - middle.1).rounded(.down)),
                Int(bounds.size.width), Int(bounds.size.height),
            ]
        }
        await Window.layOut(view.widget)
        let (width, height) = (Int(gtk_widget_get_width(view.widget)), Int(gtk_widget_get_height(view.widget)))
        try #require(width > 0 && width % 2 == 0 && height > 0 && height % 2 == 0)
        #expect(try await frame(.natural) == [0, 0, width, height])
        let corner = [6 - width / 2, 4 - height / 2, 12, 8]
        #expect(try await frame(.natural, align: GTK_ALIGN_START) == corner)
        #expect(try await frame(.natural, (15, -10)) == [15, -10, 12, 8])
        #expect(try await frame(.full, (15, -10), align: GTK_ALIGN_CENTER) == [0, 0, width, height])
        #expect(try await frame(.fixed(width: 40, height: 20)) == [0, 0, 40, 20])
        #expect(try await frame(.fixed(width: 40, height: 20), (-15, 10)) == [-15, 10, 40, 20])
        #expect(try await frame(.fixed(width: 40, height: 20), (15, 10), isMirrored: true) == [15, 10, 40, 20])
        // Beyond the view, and beyond what GTK takes.
        #expect(try await frame(.fixed(width: 40, height: 20), (500, -500)) == [500, -500, 40, 20])
        let far = try await frame(.fixed(width: .max, height: .min), (.min, .max))
        #expect(far[0] == -16_383 && far[1] == 16_383 && far[3] == 0)
        window.close()
    }

    @Test func aViewMayStayWithItsWidget() async throws {
        try Window.requireScreen()
        weak var gone: ImageView?
        let window: Window
        do {
            let view = ImageView()
            gone = view
            view.showImage(try Colors.image(Colors.red, 3, 3))
            view.attachToWidget()
            window = try Window(view.widget)
        }
        #expect(gone != nil)
        window.show()
        await Window.run { gone.map { gtk_widget_get_mapped($0.widget) != 0 } ?? true }
        #expect(gone.map { $0.pictureSize } == PixelSize(3, 3))
        window.close()
        await Window.run { gone == nil }
    }

    @Test func hiddenViewLoadsWithLowPriority() async throws {
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        try Window.requireScreen()
        let view = ImageView()
        let window = try await Window.showing(view.widget)
        view.setImage(.wide(url), pipeline: fixture.pipeline)
        #expect(view.target.loadPriority == .normal)
        window.hide()
        #expect(view.target.loadPriority == .low)
        window.show()
        await Window.run { view.target.loadPriority == .normal }
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

    /// A callback may request something else at once.
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
        // The end of a transition, reported because another image takes its place.
        view.setImage(
            ImageRequest(urls[0]),
            options: .init(transition: .fade(.seconds(3600)), waitsForTransition: true), pipeline: fixture.pipeline
        ) { end in
            first.callback(end)
            view.setImage(.wide(urls[1]), pipeline: self.fixture.pipeline, completion: second.callback)
        }
        await Window.run { if case .showing = view.state { true } else { false } }
        _ = try await fixture.pipeline.image(for: .wide(urls[1]))
        view.showImage(try Colors.image(Colors.red, 3, 3))
        #expect(first.all == ["shown"] && second.all == ["shown"])
        #expect(view.pictureSize == sizes[1] && view.content.image?.size == sizes[1])
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
