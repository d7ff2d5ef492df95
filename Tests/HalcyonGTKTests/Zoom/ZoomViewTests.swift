import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// A picture that is larger than its window.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ZoomViewTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }
    private static let size = PixelSize(2400, 1200)

    /// Returns a picture whose red grows from the left and whose green from the top, by one in 16 pixels.
    private static func picture(alpha: UInt8 = 255) throws -> Data {
        var pixels: [UInt8] = []
        pixels.reserveCapacity(size.width * size.height * 4)
        for green in 0..<size.height / 16 {
            var row: [UInt8] = []
            for x in 0..<size.width {
                row += [0, UInt8(green * Int(alpha) / 255), UInt8(x / 16 * Int(alpha) / 255), alpha]
            }
            for _ in 0..<16 { pixels += row }
        }
        return try Image(width: size.width, height: size.height, pixels: pixels).data(as: .png)
    }

    /// Not `Data`, whose global storage LeakSanitizer takes for lost.
    private static let map = Result { [UInt8](try picture()) }

    private func serve(_ data: Data? = nil) throws -> URL {
        let url = PipelineFixture.url("map.png")
        fixture.transport.answer(url, with: .data(try data ?? Data(Self.map.get())))
        return url
    }

    private func shown(_ url: URL? = nil) async throws -> (ZoomView, Window) {
        let url = try url ?? serve()
        try Window.requireScreen()
        let zoomed = ZoomView()
        let window = try await Window.showing(zoomed.widget)
        let ends = Ends()
        zoomed.view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        #expect(ends.all == ["shown"])
        return (zoomed, window)
    }

    /// Returns the drawing once a condition is true and the layout is done.
    private func rendering(
        _ zoomed: ZoomView, when isThere: () -> Bool
    ) async throws -> Rendering {
        await Window.run(until: isThere)
        return try await Window.rendering(of: zoomed.widget, width: 200, height: 100)
    }

    @Test func wholeImageIsLoadedAtWindowSize() async throws {
        let (zoomed, window) = try await shown()
        #expect(zoomed.shownZoom == 200 / 2400.0 && zoomed.view.content.image?.size == PixelSize(200, 100))
        zoomed.zoom = 1
        await Window.run { zoomed.shownDetail != nil }
        #expect(zoomed.view.content.image?.size == PixelSize(200, 100) && fixture.transport.requestCount == 1)
        window.close()
    }

    /// Each place that is scrolled to is seen with the pixels that the image has there.
    @Test func thePartThatIsSeenIsSharp() async throws {
        let (zoomed, window) = try await shown()
        zoomed.zoom = 1
        for (x, y) in [(1200.0, 600.0), (400, 200), (2300, 1150)] {
            zoomed.center(x: x, y: y)
            let drawn = try await rendering(zoomed) { zoomed.isSharp }
            let middle = (min(x, 2300), min(y, 1150))
            let color = [UInt8(middle.0 / 16), UInt8(middle.1 / 16), 0, 255]
            #expect(drawn.isClose(100, 50, color, by: 1), "\(drawn.color(100, 50)) \(color)")
            // A step of one in red at each 16 pixels: a magnified picture has none of them in its place.
            let steps = (0..<180).filter { drawn.color($0, 50)[0] != drawn.color($0 + 1, 50)[0] }
            #expect(steps.count >= 10 && zip(steps, steps.dropFirst()).allSatisfy { $1 - $0 == 16 }, "\(steps)")
        }
        #expect(fixture.transport.requestCount == 1)
        window.close()
    }

    @Test func zoomKeepsCenter() async throws {
        let (zoomed, window) = try await shown()
        zoomed.zoom = 1
        zoomed.center(x: 1000, y: 500)
        _ = try await rendering(zoomed) { zoomed.isSharp }
        for zoom in [2.0, 0.5, 4] {
            zoomed.zoom = zoom
            let drawn = try await rendering(zoomed) { zoomed.isSharp }
            #expect(drawn.isClose(100, 50, [62, 31, 0, 255], by: 1), "\(zoom): \(drawn.color(100, 50))")
        }
        zoomed.zoom = nil
        let whole = try await rendering(zoomed) { zoomed.shownZoom == 200 / 2400.0 }
        #expect(whole.isClose(100, 50, [75, 37, 0, 255], by: 2))
        window.close()
    }

    @Test func newImageReplacesDetail() async throws {
        let (zoomed, window) = try await shown()
        zoomed.zoom = 1
        await Window.run { zoomed.isSharp }
        zoomed.view.showImage(try Colors.image(Colors.red, 10, 10))
        #expect(zoomed.shownDetail == nil)
        let drawn = try await rendering(zoomed) { zoomed.shownZoom == 1 }
        #expect(drawn.isClose(100, 50, Colors.red) && !drawn.isClose(80, 50, Colors.red))
        window.close()
    }

    @Test func invalidZoomsAreClamped() async throws {
        let (zoomed, window) = try await shown()
        for (zoom, expected) in [(Double.nan, 1.0), (.infinity, 1), (-3, 0.001), (0, 0.001), (1e9, 64)] {
            zoomed.zoom = zoom
            #expect(zoomed.zoom == expected)
        }
        window.close()
    }

    /// As its user does it, before there is a window.
    @Test func anImageThatIsSetBeforeTheFirstLayout() async throws {
        let url = try serve()
        try Window.requireScreen()
        let (zoomed, ends) = (ZoomView(), Ends())
        zoomed.view.setImage(from: url, pipeline: fixture.pipeline, completion: ends.callback)
        zoomed.zoom = 2
        let window = try await Window.showing(zoomed.widget)
        await Window.run { ends.count == 1 && zoomed.isSharp }
        #expect(zoomed.view.content.image?.size == PixelSize(200, 100))
        window.close()
    }

    /// Before any of it is laid out.
    @Test func consecutiveZoomChangesKeepCenter() async throws {
        let (zoomed, window) = try await shown()
        zoomed.zoom = 1
        zoomed.center(x: 1000, y: 500)
        for zoom in [2.0, 8, 4] { zoomed.zoom = zoom }
        let drawn = try await rendering(zoomed) { zoomed.isSharp }
        #expect(drawn.isClose(100, 50, [62, 31, 0, 255], by: 1), "\(drawn.color(100, 50))")
        window.close()
    }

    /// The requested image is not yet the one that is seen.
    @Test func detailBelongsToShownImageWhileNextLoads() async throws {
        let (zoomed, window) = try await shown()
        let next = PipelineFixture.url("next.png")
        var answer = ScriptedTransport.Answer.data(Data("no image".utf8))
        answer.headGate = ScriptedTransportGate()
        fixture.transport.answer(next, with: answer)
        zoomed.view.setImage(
            ImageRequest(next), options: .init(keepsCurrent: true), pipeline: fixture.pipeline)
        zoomed.zoom = 1
        zoomed.center(x: 1200, y: 600)
        let drawn = try await rendering(zoomed) { zoomed.isSharp }
        #expect(drawn.isClose(100, 50, [75, 37, 0, 255], by: 1))
        zoomed.view.cancel()
        zoomed.center(x: 400, y: 200)
        let other = try await rendering(zoomed) { zoomed.isSharp }
        #expect(other.isClose(100, 50, [25, 12, 0, 255], by: 1))
        window.close()
    }

    /// The part is not drawn over the whole but in its place.
    @Test func translucentDetailIsNotBlendedWithImageBelow() async throws {
        let (zoomed, window) = try await shown(try serve(Self.picture(alpha: 128)))
        zoomed.zoom = 1
        zoomed.center(x: 1200, y: 600)
        await Window.run { zoomed.isSharp }
        let drawn = try Rendering(zoomed.view.paintable, width: 2400, height: 1200)
        for (x, y) in [(1200, 600), (300, 600), (1200, 300)] { #expect(drawn.color(x, y)[3] == 128) }
        window.close()
    }

    /// Processed images are as large as they are, and have no parts.
    @Test func aTurnedImageHasItsShape() async throws {
        let url = try serve()
        try Window.requireScreen()
        let (zoomed, ends) = (ZoomView(), Ends())
        let window = try await Window.showing(zoomed.widget)
        zoomed.view.setImage(
            from: url, processors: [.rotate(degrees: 90)], pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        let size = try #require(zoomed.view.content.image?.size)
        #expect(size.height == 2 * size.width)
        zoomed.zoom = 3
        let drawn = try await rendering(zoomed) { zoomed.shownZoom == 3 }
        #expect(drawn.color(100, 50)[3] == 255 && zoomed.shownDetail == nil)
        window.close()
    }

    @Test func zoomViewIsReleasedWithItsWindow() async throws {
        weak var gone: ZoomView?
        do {
            let (zoomed, window) = try await shown()
            gone = zoomed
            zoomed.zoom = 2
            await Window.run { zoomed.isSharp }
            zoomed.center(x: 0, y: 0)
            window.close()
        }
        await Window.run { gone == nil }
    }
}
