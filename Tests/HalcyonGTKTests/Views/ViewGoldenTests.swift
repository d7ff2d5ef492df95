import CGTK
import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonGTK

/// The drawing of views, compared with pictures under `Tests/Fixtures/views`; with `HALCYON_WRITE_GOLDENS` set these are
/// written anew, to be inspected before they are committed.
@MainActor @Suite(.serialized, .timeLimit(.minutes(5))) struct ViewGoldenTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }
    private static let size = PixelSize(96, 72)

    /// Stripes of two colours under a light in a corner, so that what is turned, cut or askew is seen.
    private static func picture(_ first: [UInt8], _ second: [UInt8]) throws -> Image {
        var pixels: [UInt8] = []
        for y in 0..<size.height {
            for x in 0..<size.width {
                let color = (x + y) / 12 % 2 == 0 ? first : second
                let light = UInt8(max(0, 120 - (x + y) * 2))
                pixels += [color[2] | light, color[1] | light, color[0] | light, 255]
            }
        }
        return try Image(width: size.width, height: size.height, pixels: pixels)
    }

    private static func old() throws -> Image { try picture([120, 60, 20, 255], [180, 120, 60, 255]) }
    private static func new() throws -> Image { try picture([20, 80, 120, 255], [60, 140, 180, 255]) }

    /// Channels may differ by two levels: the rounding of another version of Cairo.
    private func compare(_ drawn: Rendering, _ name: String) throws {
        let file = "views/\(name).png"
        if ProcessInfo.processInfo.environment["HALCYON_WRITE_GOLDENS"] != nil {
            try drawn.image().data(as: .png).write(to: TestFiles.url(file))
        }
        let golden = try Image(data: TestFiles.data(file))
        #expect(golden.size == PixelSize(drawn.width, drawn.height))
        var most = 0
        golden.bitmap.withPixels { expected in
            for (index, value) in drawn.bytes.enumerated() { most = max(most, abs(Int(value) - Int(expected[index]))) }
        }
        #expect(most <= 2, "\(name) differs by \(most)")
    }

    private func compare(_ view: ImageView, _ name: String) async throws {
        let drawn = try await Window.rendering(of: view.widget, width: Self.size.width, height: Self.size.height)
        try compare(drawn, name)
    }

    /// A small square of our own: no theme, no text, and it stands still.
    private static func indicator() throws -> Indicator {
        .image(try Colors.image([250, 200, 40, 255], 16, 16))
    }

    private func shown() async throws -> (ImageView, Window) {
        try Window.requireScreen()
        let view = ImageView()
        gtk_widget_set_size_request(view.widget, Int32(Self.size.width), Int32(Self.size.height))
        gtk_widget_set_halign(view.widget, GTK_ALIGN_CENTER)
        gtk_widget_set_valign(view.widget, GTK_ALIGN_CENTER)
        let window = try await Window.showing(view.widget)
        await Window.run { gtk_widget_get_width(view.widget) == Self.size.width }
        return (view, window)
    }

    @Test func theWayOfALoad() async throws {
        let (view, window) = try await shown()
        let gate = ScriptedTransportGate()
        let url = PipelineFixture.url("golden.png")
        fixture.transport.answer(
            url, with: .init(steps: [.wait(gate), .chunk(try Self.new().data(as: .png))]))
        let ends = Ends()
        view.loadingIndicator = try Self.indicator()
        view.setImage(
            from: url, placeholder: .image(try Self.old()), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { fixture.transport.requestCount == 1 }
        try await compare(view, "loading")
        gate.open()
        await Window.run { ends.count == 1 }
        try await compare(view, "shown")
        view.contentFit = .scaleDown
        view.showImage(try Colors.image(Colors.red, 30, 20))
        try await compare(view, "scale-down")
        window.close()
    }

    @Test func aPlaceholderAndAFailure() async throws {
        let (view, window) = try await shown()
        let ends = Ends()
        view.setImage(
            from: nil, placeholder: .image(try Self.old()), pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 1 }
        try await compare(view, "placeholder")
        view.setImage(
            ImageRequest(nil), options: .init(failure: .image(try Colors.image([90, 90, 90, 255], 48, 72))),
            pipeline: fixture.pipeline, completion: ends.callback)
        await Window.run { ends.count == 2 }
        try await compare(view, "failed")
        window.close()
    }

    @Test(
        arguments: [
            ("fade", ImageTransition.Style.crossFade), ("flip-left", .flip(from: .left)),
            ("flip-right", .flip(from: .right)), ("flip-top", .flip(from: .top)), ("flip-bottom", .flip(from: .bottom)),
            ("slide-left", .slide(from: .left)), ("slide-right", .slide(from: .right)),
            ("slide-top", .slide(from: .top)), ("slide-bottom", .slide(from: .bottom)),
        ]) func aTransition(name: String, style: ImageTransition.Style) throws
    {
        let paintable = ImagePaintable()
        // A card that is turned by half is seen from its edge.
        for (progress, place) in [(0.3, "begun"), (0.5, "halfway"), (0.7, "nearly-over")]
        where name.hasPrefix("flip") || progress == 0.5 {
            paintable.show(.init(try Self.old()))
            paintable.begin(.init(try Self.new()), style)
            paintable.progress = progress
            let drawn = try Rendering(paintable, width: Self.size.width, height: Self.size.height)
            try compare(drawn, "\(name)-\(place)")
        }
    }
}
