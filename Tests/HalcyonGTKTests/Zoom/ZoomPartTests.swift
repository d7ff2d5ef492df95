import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// The parts that a zoomed picture is made of, beyond the plain case.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ZoomPartTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    /// A picture whose green grows from the top by one in 16 pixels.
    private static func picture(_ width: Int, _ height: Int) throws -> Data {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for y in 0..<height {
            for _ in 0..<width { pixels += [0, UInt8(y / 16 % 256), 0, 255] }
        }
        return try Image(width: width, height: height, pixels: pixels).data(as: .png)
    }

    /// Not `Data`, whose global storage LeakSanitizer takes for lost.
    private static let square = Result { [UInt8](try picture(1000, 1000)) }

    private func serve(_ data: Data, _ name: String = "map.png") -> URL {
        let url = PipelineFixture.url(name)
        fixture.transport.answer(url, with: .data(data))
        return url
    }

    private func shown(
        _ request: ImageRequest, in pipeline: ImagePipeline? = nil, transition: ImageTransition? = nil
    ) async throws -> (ZoomView, Window) {
        try Window.requireScreen()
        let zoomed = ZoomView()
        let window = try await Window.showing(zoomed.widget)
        let ends = Ends()
        zoomed.view.setImage(
            request, options: .init(transition: transition), pipeline: pipeline ?? fixture.pipeline,
            completion: ends.callback)
        await Window.run { ends.count == 1 }
        #expect(ends.all == ["shown"])
        return (zoomed, window)
    }

    private func rendering(_ zoomed: ZoomView, _ width: Int = 200, _ height: Int = 100) async throws -> Rendering {
        try await Window.rendering(of: zoomed.widget, width: width, height: height)
    }

    /// The whole, reduced, has not quite the shape of the file: it fills its place all the same.
    @Test func longStrips() async throws {
        let (zoomed, window) = try await shown(ImageRequest(serve(try Self.picture(70, 3000))))
        #expect(zoomed.view.content.image?.size == PixelSize(2, 100))
        zoomed.zoom = 1
        for y in [0.0, 3000, 1500] {
            zoomed.center(x: 35, y: y)
            await Window.run { zoomed.isSharp }
            let drawn = try await rendering(zoomed)
            let top = Int(min(max(0, y - 50), 2900))
            for row in [0, 50, 99] { #expect(drawn.isClose(100, row, [0, UInt8((top + row) / 16), 0, 255], by: 1)) }
        }
        #expect(zoomed.visibleRegion == PixelRect(x: 0, y: 1450, width: 70, height: 100))
        window.close()
    }

    /// It is at its place before the first frame of the new zoom.
    @Test func centerAppliesBeforeFirstFrame() async throws {
        let (zoomed, window) = try await shown(ImageRequest(serve(try Data(Self.square.get()))))
        zoomed.zoom = 2
        zoomed.center(x: 600, y: 400)
        let wanted = PixelRect(x: 550, y: 375, width: 100, height: 50)
        #expect(zoomed.visibleRegion == wanted)
        for _ in 0..<3 {
            await Window.draw(zoomed.widget, frames: 1)
            #expect(zoomed.visibleRegion == wanted)
        }
        // The place under the pointer stays.
        zoomed.setZoom(4, around: (x: 0, y: 0))
        #expect(zoomed.visibleRegion == PixelRect(x: 550, y: 375, width: 50, height: 25))
        window.resize(240, 140)
        await Window.run { zoomed.viewport == (240, 140) && zoomed.lastViewport == (240, 140) }
        #expect(zoomed.visibleRegion == PixelRect(x: 545, y: 370, width: 60, height: 35))
        window.close()
    }

    /// A part of another picture does not belong to this one.
    @Test func alternativesHaveNoParts() async throws {
        let url = serve(try Data(Self.square.get()))
        var request = ImageRequest(url, cachePolicy: .noStore)
        request.alternatives = [.remote(serve(try Colors.image(Colors.red, 1000, 1000).data(as: .png), "other.png"))]
        let (zoomed, window) = try await shown(request)
        for answer in [
            ScriptedTransport.Answer.data(try Colors.image(Colors.red, 800, 900).data(as: .png)), .status(404),
        ] {
            fixture.transport.answer(url, with: answer)
            let count = fixture.transport.requestCount
            zoomed.center(x: 500, y: 500)
            zoomed.zoom = (zoomed.zoom ?? 0.25) * 2
            await Window.run { fixture.transport.requestCount > count && zoomed.detail?.isLoading == false }
            #expect(zoomed.shownDetail == nil && !zoomed.isSharp)
        }
        window.close()
    }

    /// The pipeline's rewritten request counts, with its cache policy.
    @Test func aPipelineThatChangesRequests() async throws {
        let url = serve(try Data(Self.square.get()))
        let rewriting = PipelineFixture {
            $0.coders = .standard()
            $0.defaults.cachePolicy = .storeProcessed
            $0.requestModifier = { request in
                var request = request
                request.source = .remote(url)
                return request
            }
        }
        rewriting.transport.answer(url, with: .data(try Data(Self.square.get())))
        let (zoomed, window) = try await shown(
            ImageRequest(PipelineFixture.url("mirror")), in: rewriting.pipeline)
        #expect(zoomed.view.target.request?.cachePolicy.writes.contains(.diskProcessed) == true)
        zoomed.zoom = 1
        await Window.run { zoomed.isSharp && zoomed.shownDetail != nil }
        window.close()
    }

    @Test func transitionsAreForWhatFits() async throws {
        let fade = ImageTransition.fade(.seconds(3600))
        let (zoomed, window) = try await shown(ImageRequest(serve(try Data(Self.square.get()))), transition: fade)
        #expect(zoomed.view.transition != nil)
        zoomed.zoom = 4
        let ends = Ends()
        zoomed.view.setImage(
            ImageRequest(serve(try Self.picture(900, 900), "next.png")),
            options: .init(keepsCurrent: true, transition: fade),
            pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        #expect(zoomed.view.transition == nil && zoomed.view.content.image?.info.size == PixelSize(900, 900))
        window.close()
    }

    /// Nor are they ever loaded for more than the window.
    @Test func otherLayersAreAsLargeAsTheWindow() async throws {
        let url = serve(try Data(Self.square.get()))
        let (zoomed, window) = try await shown(ImageRequest(url))
        let ends = Ends()
        zoomed.view.background.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        zoomed.zoom = 16
        await Window.layOut(zoomed.widget)
        #expect(zoomed.view.background.content.image?.size == PixelSize(100, 100))
        #expect(!zoomed.view.background.target.isOutgrown && !zoomed.view.target.isOutgrown)
        window.close()
    }

    /// Where the whole is as sharp, nothing lies over it.
    @Test func detailIsRemovedWhenZoomedOut() async throws {
        let (zoomed, window) = try await shown(ImageRequest(serve(try Data(Self.square.get()))))
        zoomed.zoom = 1
        await Window.run { zoomed.shownDetail != nil }
        zoomed.zoom = nil
        await Window.run { zoomed.shownDetail == nil }
        #expect(zoomed.isSharp)
        window.close()
    }

    /// One that comes is not called off for another one that would show no more.
    @Test func aPartThatIsOnItsWayIsEnough() async throws {
        let url = serve(try Data(Self.square.get()))
        let (zoomed, window) = try await shown(ImageRequest(url, cachePolicy: .noStore))
        let gate = ScriptedTransportGate()
        var answer = ScriptedTransport.Answer.data(try Data(Self.square.get()))
        answer.headGate = gate
        fixture.transport.answer(url, with: answer)
        zoomed.zoom = 1
        zoomed.center(x: 500, y: 500)
        await Window.run { zoomed.requestedDetail != nil }
        let asked = zoomed.requestedDetail
        for x in [505.0, 510, 515] {
            zoomed.center(x: x, y: 500)
            await Window.draw(zoomed.widget, frames: 10)
            #expect(zoomed.requestedDetail == asked)
        }
        gate.open()
        await Window.run { zoomed.isSharp }
        #expect(fixture.transport.requestCount == 2)
        window.close()
    }

    /// The window is another one, what is seen is as sharp as it was.
    @Test func aResizeKeepsThePart() async throws {
        let (zoomed, window) = try await shown(ImageRequest(serve(try Data(Self.square.get()))))
        zoomed.zoom = 1
        zoomed.center(x: 500, y: 500)
        await Window.run { zoomed.shownDetail != nil }
        var hasLost = false
        zoomed.onChange = { [unowned zoomed] in hasLost = hasLost || zoomed.shownDetail == nil }
        window.resize(300, 200)
        await Window.run { zoomed.view.content.image?.size == PixelSize(200, 200) && zoomed.isSharp }
        #expect(!hasLost)
        let drawn = try await rendering(zoomed, 300, 200)
        // Not behind the scroll bars.
        let isSharp = [2, 100, 180].allSatisfy { drawn.isClose(150, $0, [0, UInt8((400 + $0) / 16), 0, 255], by: 0) }
        #expect(isSharp)
        window.close()
    }

    @Test func drawingsAreAsSharpAsTheScreen() async throws {
        let drawing = Data(
            "<svg xmlns='http://www.w3.org/2000/svg' width='24' height='24'><circle cx='12' cy='12' r='9'/></svg>".utf8)
        let (zoomed, window) = try await shown(ImageRequest(serve(drawing, "icon.svg")))
        #expect(zoomed.view.content.image?.size == PixelSize(100, 100))
        zoomed.zoom = 40
        #expect(!zoomed.isSharp)
        await Window.run { zoomed.isSharp }
        let part = try #require(zoomed.shownDetail)
        #expect(part.target.width >= part.region.size.width * 39)
        window.close()
    }

    /// A blurred stand-in is not what is zoomed.
    @Test func placeholdersFit() async throws {
        let url = PipelineFixture.url("late.png")
        let gate = ScriptedTransportGate()
        var answer = ScriptedTransport.Answer.data(try Data(Self.square.get()))
        answer.headGate = gate
        fixture.transport.answer(url, with: answer)
        try Window.requireScreen()
        let zoomed = ZoomView()
        let window = try await Window.showing(zoomed.widget)
        let ends = Ends()
        zoomed.zoom = 2
        zoomed.view.setImage(
            from: url, placeholder: .image(try Colors.image(Colors.blue, 8, 4)), pipeline: fixture.pipeline,
            completion: ends.callback)
        zoomed.center(x: 700, y: 300)
        #expect(zoomed.shownZoom == nil && zoomed.visibleRegion == nil && !zoomed.isSharp)
        #expect(try await rendering(zoomed).isClose(2, 2, Colors.blue))
        gate.open()
        await Window.run { ends.count == 1 && zoomed.isSharp }
        #expect(zoomed.visibleRegion == PixelRect(x: 650, y: 275, width: 100, height: 50))
        window.close()
    }

    /// The program's own images, and those that processors have made, are as large as they are.
    @Test func imagesWithoutParts() async throws {
        let url = serve(try Self.picture(1000, 500))
        let (zoomed, window) = try await shown(
            ImageRequest(url, processors: [.resize(to: PixelSize(400, 200))]))
        #expect(zoomed.fittingZoom == 0.5 && zoomed.isSharp)
        zoomed.view.showImage(try Colors.image(Colors.red, 10, 10))
        #expect(zoomed.isSharp && zoomed.fittingZoom == 10)
        zoomed.zoom = 3
        #expect(zoomed.isSharp)
        window.close()
    }

    /// The wheel, fingers, dragging and a double click.
    @Test func gesturesChangeZoomAndPosition() async throws {
        let (zoomed, window) = try await shown(ImageRequest(serve(try Self.picture(1000, 500))))
        #expect(zoomed.fittingZoom == 0.2)
        zoomed.toggle(around: (x: 50, y: 50))
        #expect(zoomed.zoom == 1 && zoomed.visibleRegion == PixelRect(x: 200, y: 200, width: 200, height: 100))
        zoomed.zoom(by: 2, around: (x: 0, y: 0))
        #expect(zoomed.zoom == 2 && zoomed.visibleRegion == PixelRect(x: 200, y: 200, width: 100, height: 50))
        zoomed.pan(by: (x: -20, y: 40))
        #expect(zoomed.visibleRegion == PixelRect(x: 210, y: 180, width: 100, height: 50))
        zoomed.pan(by: (x: 1e9, y: .infinity))
        #expect(zoomed.visibleRegion == PixelRect(x: 210, y: 180, width: 100, height: 50))
        zoomed.zoom(by: 0.01, around: (x: 0, y: 0))
        #expect(zoomed.zoom == nil)
        zoomed.isInteractive = false
        zoomed.zoom(by: 3, around: (x: 0, y: 0))
        #expect(zoomed.zoom == nil)
        zoomed.isInteractive = true
        // As GTK reports it.
        let viewport = try #require(gtk_widget_get_parent(zoomed.fixed))
        try Emission.doubleClick(on: viewport, x: 50, y: 50)
        #expect(zoomed.zoom == 1)
        let pinch = gtk_gesture_zoom_get_type()
        for scale in [1.0, 2] { try Emission.gesture(pinch, "scale-changed", on: viewport, [scale]) }
        #expect(zoomed.zoom == 2)
        let before = try #require(zoomed.visibleRegion)
        try Emission.gesture(gtk_gesture_drag_get_type(), "drag-begin", on: viewport, [60, 60])
        for x in [20.0, 40] { try Emission.gesture(gtk_gesture_drag_get_type(), "drag-update", on: viewport, [x, 0]) }
        #expect(zoomed.visibleRegion?.x == before.x - 20)
        // In and out again it is the whole, which follows the window.
        zoomed.zoom = nil
        for _ in 0..<4 { zoomed.zoom(by: 1.25, around: (x: 100, y: 50)) }
        for _ in 0..<4 { zoomed.zoom(by: 1 / 1.25, around: (x: 100, y: 50)) }
        #expect(zoomed.zoom == nil)
        window.close()
    }

    /// The same address, and as large, but another picture.
    @Test func reloadReplacesDetailOfChangedImage() async throws {
        let url = serve(try Data(Self.square.get()))
        let (zoomed, window) = try await shown(ImageRequest(url))
        zoomed.zoom = 1
        await Window.run { zoomed.shownDetail != nil }
        fixture.transport.answer(url, with: .data(try Colors.image(Colors.red, 1000, 1000).data(as: .png)))
        let ends = Ends()
        zoomed.view.reload(completion: ends.callback)
        await Window.run { ends.count == 1 }
        #expect(zoomed.shownDetail == nil)
        let reduced = try await rendering(zoomed)
        #expect(reduced.isClose(100, 50, Colors.red), "\(reduced.color(100, 50)), part: \(zoomed.shownDetail != nil)")
        await Window.run { zoomed.isSharp }
        let sharp = try await rendering(zoomed)
        #expect(sharp.isClose(100, 50, Colors.red), "\(sharp.color(100, 50))")
        window.close()
    }

    /// The part is not of what the processors make.
    @Test func processedRequestRemovesDetail() async throws {
        let url = serve(try Data(Self.square.get()))
        let (zoomed, window) = try await shown(ImageRequest(url))
        zoomed.zoom = 1
        await Window.run { zoomed.shownDetail != nil }
        let ends = Ends()
        zoomed.view.setImage(
            ImageRequest(url, processors: [.rotate(degrees: 180)]), options: .init(keepsCurrent: true),
            pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        #expect(zoomed.shownDetail == nil)
        window.close()
    }

    /// The thumbnail that it was opened from, which is in memory.
    @Test func cachedThumbnailIsShownUntilImageLoads() async throws {
        let url = serve(try Data(Self.square.get()))
        var thumbnail = ImageRequest(url)
        thumbnail.decode.target = TargetSize(PixelSize(64, 64))
        _ = try await fixture.pipeline.image(for: thumbnail)
        try Window.requireScreen()
        let (zoomed, ends) = (ZoomView(), Ends())
        zoomed.zoom = 2
        zoomed.view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        zoomed.center(x: 700, y: 300)
        #expect(zoomed.view.content.image?.size == PixelSize(64, 64))
        let window = try await Window.showing(zoomed.widget)
        await Window.run { ends.count == 1 && zoomed.isSharp }
        #expect(zoomed.visibleRegion == PixelRect(x: 650, y: 275, width: 100, height: 50))
        window.close()
    }

    /// A callback may zoom at once.
    @Test func aProgramsOwnLimit() async throws {
        let (zoomed, window) = try await shown(ImageRequest(serve(try Data(Self.square.get()))))
        zoomed.zoom = 1
        zoomed.center(x: 600, y: 400)
        zoomed.onChange = { [unowned zoomed] in if let zoom = zoomed.zoom, zoom > 4 { zoomed.zoom = 4 } }
        zoomed.zoom = 8
        #expect(zoomed.zoom == 4 && zoomed.visibleRegion == PixelRect(x: 575, y: 387, width: 50, height: 26))
        window.close()
    }

    @Test func aViewThatShowsSomethingAlready() async throws {
        try Window.requireScreen()
        let view = ImageView()
        view.showImage(try Colors.image(Colors.red, 100, 50))
        let zoomed = ZoomView(view)
        let window = try await Window.showing(zoomed.widget)
        await Window.run { zoomed.fittingZoom == 2 }
        window.close()
    }

    /// A program may set them.
    @Test func otherAdjustments() async throws {
        let (zoomed, window) = try await shown(ImageRequest(serve(try Data(Self.square.get()))))
        zoomed.zoom = 1
        let other = try #require(gtk_adjustment_new(0, 0, 0, 0, 0, 0))
        gtk_scrolled_window_set_vadjustment(OpaquePointer(zoomed.widget), other)
        await Window.run { gtk_adjustment_get_upper(other) == 1000 && zoomed.isSharp }
        gtk_adjustment_set_value(other, 700)
        #expect(!zoomed.isSharp)
        await Window.run { zoomed.isSharp }
        window.close()
    }
}
