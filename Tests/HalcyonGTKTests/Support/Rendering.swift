import CGTK
import Halcyon
@testable import HalcyonGTK
import Testing

/// The drawing of a paintable, as pixels.
@MainActor struct Rendering {
    let width: Int
    let height: Int
    private let pixels: [UInt8]

    init(_ paintable: ImagePaintable, width: Int, height: Int) throws {
        try self.init(pointer: paintable.pointer, width: width, height: height)
    }

    /// - Parameter pointer: a `GdkPaintable`.
    init(pointer: OpaquePointer, width: Int, height: Int) throws {
        try Window.requireScreen()
        let snapshot = gtk_snapshot_new()
        gdk_paintable_snapshot(pointer, snapshot, Double(width), Double(height))
        let node = gtk_snapshot_free_to_node(snapshot)
        self.init(node, width: width, height: height)
        if let node { gsk_render_node_unref(node) }
    }

    /// - Parameter node: a `GskRenderNode`; nil is nothing.
    init(_ node: OpaquePointer?, width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        var pixels = [UInt8](repeating: 0, count: width * height * 4)
        pixels.withUnsafeMutableBufferPointer { bytes in
            let surface = cairo_image_surface_create_for_data(
                bytes.baseAddress, CAIRO_FORMAT_ARGB32, Int32(width), Int32(height), Int32(width * 4))
            let cairo = cairo_create(surface)
            if let node { gsk_render_node_draw(node, cairo) }
            cairo_destroy(cairo)
            cairo_surface_finish(surface)
            cairo_surface_destroy(surface)
        }
        self.pixels = pixels
    }

    /// Premultiplied, blue first.
    var bytes: [UInt8] { pixels }

    func image() throws -> Image { try Image(width: width, height: height, pixels: pixels) }

    /// Red, green, blue, alpha.
    func color(_ x: Int, _ y: Int) -> [UInt8] {
        let offset = (y * width + x) * 4
        return [pixels[offset + 2], pixels[offset + 1], pixels[offset], pixels[offset + 3]]
    }

    func isClose(_ x: Int, _ y: Int, _ color: [UInt8], by tolerance: Int = 3) -> Bool {
        zip(self.color(x, y), color).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }
}

enum Colors {
    static let red: [UInt8] = [255, 0, 0, 255]
    static let blue: [UInt8] = [0, 0, 255, 255]
    static let clear: [UInt8] = [0, 0, 0, 0]

    /// An image of one colour.
    static func image(_ color: [UInt8], _ width: Int, _ height: Int) throws -> Image {
        let pixel = [color[2], color[1], color[0], color[3]]
        return try Image(
            width: width, height: height, pixels: (0..<width * height).flatMap { _ in pixel })
    }
}
