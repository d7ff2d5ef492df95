import CGTK
import Halcyon
import Testing

@testable import HalcyonGTK

/// Windows that Cairo draws are given the pixels themselves, and look as where GTK draws textures.
@MainActor @Suite(.serialized, .timeLimit(.minutes(2))) struct CairoDrawingTests {
    private static func picture(isOpaque: Bool) throws -> Image {
        let (width, height) = (24, 16)
        var pixels: [UInt8] = []
        for index in 0..<width * height {
            let alpha = isOpaque ? 255 : (index * 7) % 256
            for color in [index % width * 10, index / width * 15, (index * 31) % 256] {
                pixels.append(UInt8(color * alpha / 255))
            }
            pixels.append(UInt8(alpha))
        }
        return try Image(width: width, height: height, pixels: pixels)
    }

    private func node(_ paintable: ImagePaintable, _ width: Int, _ height: Int) throws -> OpaquePointer {
        let snapshot = gtk_snapshot_new()
        gdk_paintable_snapshot(paintable.pointer, snapshot, Double(width), Double(height))
        return try #require(gtk_snapshot_free_to_node(snapshot))
    }

    /// The kinds of a node and of what is in it, as GSK writes them down.
    private func text(_ node: OpaquePointer) -> String {
        let bytes = gsk_render_node_serialize(node)
        defer { g_bytes_unref(bytes) }
        var count: gsize = 0
        let start = g_bytes_get_data(bytes, &count)
        return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    private func area() async throws -> (UnsafeMutablePointer<GtkWidget>, Window) {
        try Window.requireScreen()
        let area = try #require(gtk_drawing_area_new())
        return (area, try await Window.showing(area))
    }

    @Test(arguments: [true, false], [(24, 16), (48, 32), (11, 7), (30, 30)])
    func cairoDrawingMatchesGTKDrawing(isOpaque: Bool, size: (width: Int, height: Int)) async throws {
        let (area, window) = try await area()
        for fit in [ContentFit.contain, .cover, .fill, .scaleDown] {
            let (lent, copied) = (ImagePaintable(), ImagePaintable())
            for paintable in [lent, copied] {
                paintable.contentFit = fit
                paintable.show(.init(try Self.picture(isOpaque: isOpaque)))
            }
            lent.follow(area)
            #expect(try isCairo(lent, size) && !isCairo(copied, size))
            #expect(try difference(lent, copied, size) <= 1, "\(fit)")
            let part = try Self.picture(isOpaque: isOpaque)
            for paintable in [lent, copied] {
                paintable.showDetail(
                    ImageTexture(part.bitmap),
                    in: graphene_rect_t(
                        origin: graphene_point_t(x: 0.25, y: 0.25), size: graphene_size_t(width: 0.5, height: 0.5)))
            }
            #expect(try difference(lent, copied, size) <= 1, "a part, \(fit)")
        }
        window.close()
    }

    private func isCairo(_ paintable: ImagePaintable, _ size: (width: Int, height: Int)) throws -> Bool {
        let node = try node(paintable, size.width, size.height)
        defer { gsk_render_node_unref(node) }
        let text = text(node)
        return text.contains("cairo {") && !text.contains("texture {")
    }

    /// The largest one of a sample.
    private func difference(
        _ one: ImagePaintable, _ other: ImagePaintable, _ size: (width: Int, height: Int)
    ) throws -> Int {
        let one = try Rendering(one, width: size.width, height: size.height).bytes
        let other = try Rendering(other, width: size.width, height: size.height).bytes
        return zip(one, other).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    /// GTK keeps what it has drawn, to see what is new in the next frame.
    @Test func renderNodeKeepsItsBitmapAlive() async throws {
        let (area, window) = try await area()
        let paintable = ImagePaintable()
        paintable.follow(area)
        var image: Image? = try Self.picture(isOpaque: true)
        let bitmap = try #require(image).bitmap
        let id = ObjectIdentifier(bitmap)
        paintable.show(.init(try #require(image)))
        let node = try node(paintable, 24, 16)
        let before = Rendering(node, width: 24, height: 16)
        paintable.show(nil)
        image = nil
        #expect(TextureTable.shared.holds(id))
        #expect(Rendering(node, width: 24, height: 16).bytes == before.bytes)
        #expect(before.bytes.contains { $0 != 0 && $0 != 255 })
        gsk_render_node_unref(node)
        #expect(!TextureTable.shared.holds(id))
        window.close()
    }
}
