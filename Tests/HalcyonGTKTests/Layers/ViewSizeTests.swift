import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// The sizes at which a view's images are loaded.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ViewSizeTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    /// A picture of one colour, larger than the views here.
    private func serve(_ width: Int = 800, _ height: Int = 400) throws -> URL {
        let url = PipelineFixture.url("\(width)x\(height).png")
        fixture.transport.answer(url, with: .data(try Colors.image(Colors.red, width, height).data(as: .png)))
        return url
    }

    /// A view of a size of its own.
    private func shown(_ width: Int32, _ height: Int32) async throws -> (ImageView, Window) {
        try Window.requireScreen()
        let (view, fixed) = (ImageView(), try #require(gtk_fixed_new()))
        gtk_fixed_put(UnsafeMutableRawPointer(fixed).assumingMemoryBound(to: GtkFixed.self), view.widget, 0, 0)
        gtk_widget_set_size_request(view.widget, width, height)
        let window = try await Window.showing(fixed)
        await Window.run { view.host.pixels != nil }
        return (view, window)
    }

    private func set(_ view: ImageView, _ request: ImageRequest, _ options: ImageTarget.Options = .init()) async -> Ends
    {
        let ends = Ends()
        view.setImage(request, options: options, pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        return ends
    }

    /// Until the view has heard of its size.
    private func resize(_ view: ImageView, _ width: Int32, _ height: Int32) async {
        gtk_widget_set_size_request(view.widget, width, height)
        await Window.run { gtk_widget_get_width(view.widget) == max(0, width) }
        var hasHeard = false
        MainInbox.shared.add { hasHeard = true }
        await Window.run { hasHeard }
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
            // The view learns of a layout through the inbox, and other tests run the same loop.
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
        #expect(ends.all == ["shown"] && view.pictureSize == image.size)
        window.close()
    }

    /// The next image is not made for the size that the one before gave the view.
    @Test func aViewThatFollowsItsImages() async throws {
        try Window.requireScreen()
        let view = ImageView()
        for align in [gtk_widget_set_halign, gtk_widget_set_valign] { align(view.widget, GTK_ALIGN_CENTER) }
        let window = try Window(view.widget)
        window.resize(1000, 600)
        window.show()
        // Before the first layout there is a placeholder, which the view is as large as.
        let placeholder = ImageTarget.Options(placeholder: .image(try Colors.image(Colors.blue, 8, 8)))
        for (url, options) in [
            (try serve(), placeholder), (try serve(40, 30), .init()), (try serve(600, 500), .init()),
        ] {
            let ends = await set(view, ImageRequest(url), options)
            let image = try await fixture.pipeline.image(for: url)
            #expect(ends.all == ["shown"] && view.pictureSize == image.size)
            await Window.run { gtk_widget_get_height(view.widget) == image.height }
        }
        window.close()
    }

    /// An image for a view without any room is not loaded at its full size.
    @Test func aViewWithoutRoom() async throws {
        let (view, window) = try await shown(100, 50)
        _ = await set(view, ImageRequest(try serve()))
        #expect(view.content.image?.size == PixelSize(100, 50))
        await resize(view, 0, 0)
        let ends = Ends()
        let url = try serve(400, 400)
        view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(fixture.transport.requestCount == 1)
        await resize(view, 20, 20)
        await Window.run { ends.count == 1 }
        #expect(ends.all == ["shown"] && view.content.image?.size == PixelSize(20, 20))
        window.close()
    }

    /// The shown image stays, and is reported as before, where a larger one cannot be had.
    @Test func aLargerImageThatCannotBeHad() async throws {
        let (view, window) = try await shown(100, 50)
        let url = try serve()
        var request = ImageRequest(url)
        (request.cachePolicy.reads, request.cachePolicy.writes) = ([], [])
        _ = await set(view, request, .init(failure: .image(try Colors.image(Colors.blue, 8, 8))))
        var states = 0
        view.onStateChange = { _ in states += 1 }
        fixture.transport.answer(url, with: .status(404))
        gtk_widget_set_size_request(view.widget, 200, 100)
        await Window.run { fixture.transport.requestCount == 2 && !view.target.isLoading }
        #expect(view.content.image?.size == PixelSize(100, 50) && states == 0)
        guard case .showing = view.state else { return #expect(Bool(false), "\(view.state)") }
        // The next resize tries again.
        fixture.transport.answer(url, with: .data(try Colors.image(Colors.red, 800, 400).data(as: .png)))
        fixture.pipeline.forgetFailures()
        gtk_widget_set_size_request(view.widget, 210, 105)
        await Window.run { view.content.image?.size == PixelSize(210, 105) }
        window.close()
    }

    /// Whatever the size of the view has become by a little.
    @Test func repeatedRequestKeepsShownImage() async throws {
        let (view, window) = try await shown(100, 50)
        let url = try serve()
        _ = await set(view, ImageRequest(url))
        let bitmap = try #require(view.content.image).bitmap
        for (width, height) in [(110, 55), (60, 30)] as [(Int32, Int32)] {
            await resize(view, width, height)
            let ends = Ends()
            view.setImage(
                from: url, placeholder: .image(try Colors.image(Colors.blue, 8, 8)), pipeline: fixture.pipeline,
                completion: ends.callback)
            #expect(ends.all == ["shown"] && view.content.image?.bitmap === bitmap)
        }
        window.close()
    }

    /// Nor is a callback made for it while a larger one is on its way.
    @Test func repeatedRequestWaitsForLargerImage() async throws {
        let (view, window) = try await shown(100, 50)
        let url = try serve()
        var request = ImageRequest(url)
        request.cachePolicy.writes = []
        _ = await set(view, request)
        var answer = ScriptedTransport.Answer.data(try Colors.image(Colors.red, 800, 400).data(as: .png))
        let gate = ScriptedTransportGate()
        answer.headGate = gate
        fixture.transport.answer(url, with: answer)
        gtk_widget_set_size_request(view.widget, 200, 100)
        await Window.run { view.target.isLoading }
        let ends = Ends()
        view.setImage(
            request, options: .init(placeholder: .image(try Colors.image(Colors.blue, 8, 8))),
            pipeline: fixture.pipeline,
            completion: ends.callback)
        #expect(view.content.image?.size == PixelSize(100, 50))
        gate.open()
        await Window.run { ends.count == 1 }
        #expect(ends.all == ["shown"] && view.content.image?.size == PixelSize(200, 100))
        window.close()
    }

    /// A cell with a size from its parent that happens to be the picture's size: the view does not follow its picture.
    @Test(arguments: [true, false]) func aCellWithAPictureOfItsSize(isInMemory: Bool) async throws {
        let request = ImageRequest(try serve())
        if isInMemory { _ = try await fixture.pipeline.image(for: request.fitting(width: 200, height: 100)) }
        try Window.requireScreen()
        let (view, ends) = (ImageView(), Ends())
        let placeholder = try Colors.image(Colors.blue, 200, 100)
        view.setImage(
            request, options: .init(placeholder: isInMemory ? nil : .image(placeholder)), pipeline: fixture.pipeline,
            completion: ends.callback)
        #expect(view.pictureSize == PixelSize(200, 100))
        let window = try await Window.showing(view.widget)
        await Window.run { ends.count == 1 }
        if isInMemory { #expect(view.content.image?.size == PixelSize(200, 100)) }
        await Window.layOut(view.widget)
        // With a placeholder that cannot be known at first; from the first image on it is.
        _ = await set(view, ImageRequest(try serve(801, 400)))
        #expect(view.content.image?.size == PixelSize(200, 100))
        window.close()
    }

    /// A thumbnail in memory does not show the size of a view that follows its image.
    @Test func aThumbnailOfAViewThatFollowsItsImage() async throws {
        let request = ImageRequest(try serve(80, 60))
        var thumbnail = request
        thumbnail.decode.target = TargetSize(PixelSize(16, 16))
        _ = try await fixture.pipeline.image(for: thumbnail)
        try Window.requireScreen()
        let (view, ends) = (ImageView(), Ends())
        for align in [gtk_widget_set_halign, gtk_widget_set_valign] { align(view.widget, GTK_ALIGN_CENTER) }
        view.setImage(request, pipeline: fixture.pipeline, completion: ends.callback)
        #expect(view.pictureSize == PixelSize(16, 12))
        let window = try await Window.showing(view.widget)
        await Window.run { ends.count == 1 && gtk_widget_get_width(view.widget) == 80 }
        #expect(view.content.image?.size == PixelSize(80, 60))
        window.close()
    }

    /// Back to what is shown while another image is on its way, and what is shown must be loaded anew.
    @Test func failedReturnToShownImageKeepsIt() async throws {
        let (view, window) = try await shown(100, 50)
        var request = ImageRequest(try serve())
        request.cachePolicy.writes = []
        _ = await set(view, request)
        let other = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        view.setImage(ImageRequest(other), options: .init(keepsCurrent: true), pipeline: fixture.pipeline)
        gtk_widget_set_size_request(view.widget, 200, 100)
        await Window.run { view.target.isOutgrown }
        fixture.transport.answer(PipelineFixture.url("800x400.png"), with: .status(404))
        let ends = await set(view, request)
        #expect(ends.all == ["failed"] && view.content.image?.size == PixelSize(100, 50))
        guard case .showing = view.state else { return #expect(Bool(false), "\(view.state)") }
        #expect(view.target.isOutgrown && !view.target.isLoading)
        window.close()
    }

    /// A column: as wide as it is given, as high as the picture wants it.
    @Test func aSideThatFollowsThePicture() async throws {
        try Window.requireScreen()
        let view = ImageView()
        gtk_widget_set_valign(view.widget, GTK_ALIGN_START)
        let window = try await Window.showing(view.widget)
        window.resize(200, 600)
        await Window.run { gtk_widget_get_width(view.widget) == 200 }
        await Window.layOut(view.widget)
        _ = await set(view, ImageRequest(try serve(800, 600)))
        #expect(view.content.image?.size == PixelSize(200, 150))
        window.resize(300, 600)
        await Window.run { view.content.image?.size == PixelSize(300, 225) }
        await Window.layOut(view.widget)
        _ = await set(view, ImageRequest(try serve(400, 600)), .init(keepsCurrent: true))
        #expect(view.content.image?.size == PixelSize(300, 450))
        window.close()
    }

    @Test func changedContentFitLoadsAnotherSize() async throws {
        let (view, window) = try await shown(100, 100)
        view.contentFit = .cover
        _ = await set(view, ImageRequest(try serve()))
        #expect(view.content.image?.size == PixelSize(100, 100))
        view.contentFit = .contain
        await Window.run { view.content.image?.size == PixelSize(100, 50) }
        window.close()
    }

    /// A crop and a resize count in the image's own pixels, all others in those of the view.
    @Test func processorsAndTheSizeOfTheView() async throws {
        let (view, window) = try await shown(100, 50)
        let url = try serve()
        let expected: [([any ImageProcessor], PixelSize)] = [
            ([.crop(PixelRect(x: 700, y: 300, width: 60, height: 80))], PixelSize(60, 80)),
            ([.resize(to: PixelSize(300, 300))], PixelSize(300, 150)),
            ([.roundCorners(radius: 5)], PixelSize(100, 50)),
        ]
        for (processors, size) in expected {
            let ends = await set(view, ImageRequest(url, processors: processors))
            #expect(ends.all == ["shown"] && view.content.image?.size == size, "\(processors)")
        }
        window.close()
    }

    /// An image that was loaded ahead is there in the same call.
    @Test func fittingRequestPreloadsImageForView() async throws {
        let (view, window) = try await shown(100, 50)
        for (index, fit) in [ContentFit.contain, .cover, .fill, .scaleDown].enumerated() {
            view.contentFit = fit
            let request = ImageRequest(try serve(800 + index, 400))
            _ = try await fixture.pipeline.image(for: request.fitting(width: 100, height: 50, contentFit: fit))
            let ends = Ends()
            view.setImage(request, pipeline: fixture.pipeline, completion: ends.callback)
            #expect(ends.all == ["shown"], "\(fit)")
        }
        let wide = ImageRequest.wide(try serve())
        #expect(wide.fitting(width: 1, height: .max, scaleFactor: 2).decode.target == wide.decode.target)
        window.close()
    }

    /// The load of what is seen, not that which was called off.
    @Test func reloadingAfterACancel() async throws {
        let (view, window) = try await shown(100, 50)
        let (url, other) = (try serve(), try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate()))
        _ = await set(view, ImageRequest(url))
        view.setImage(ImageRequest(other), options: .init(keepsCurrent: true), pipeline: fixture.pipeline)
        view.cancel()
        await resize(view, 200, 100)
        await Window.run { view.content.image?.width == 200 }
        let ends = Ends()
        view.reload(completion: ends.callback)
        await Window.run { ends.count == 1 }
        guard case .image(let response) = view.content else { return #expect(Bool(false), "\(view.content)") }
        #expect(ends.all == ["shown"] && response.source == .remote(url) && response.origin == .network)
        window.close()
    }

    /// A destroyed widget is not touched any more.
    @Test func aViewWhoseWidgetIsGone() async throws {
        try Window.requireScreen()
        let picture = try #require(gtk_picture_new())
        let window = try Window(picture)
        let view = try #require(ImageView.of(picture))
        window.close()
        await Window.run { view.host.isGone }
        view.accessibleLabel = "gone"
        view.background.contentFit = .cover
        view.highlight.showImage(try Colors.image(Colors.red, 3, 3))
        view.isHighlighted = true
        #expect(view.highlight.content.image != nil)
    }
}
