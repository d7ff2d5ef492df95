import CCairo
import HalcyonImage
import HalcyonSystem

/// Two layers of one size, combined into one bitmap by Cairo.
///
/// The work is done in tiles: Cairo's surfaces are limited to 32,767 pixels a side, and cancellation is checked
/// between two tiles.
struct Layers {
    enum Layer {
        case bitmap(Bitmap, alpha: Double)
        case color(Color)

        var isOpaque: Bool {
            switch self {
            case .bitmap(let bitmap, let alpha): bitmap.isOpaque && alpha >= 1
            case .color(let color): color.packed >> 24 == 255
            }
        }
    }

    let size: PixelSize
    /// The lower layer.
    let destination: Layer
    let source: Layer
    let mode: BlendMode
    /// The processor's name, for errors.
    let processor: String

    private static let tile = PixelSize(16_384, 256)

    /// - Throws: `ProcessingError.failed`, `BitmapError`; `CancellationError` within a tile of the cancellation.
    func drawn(context: WorkContext) throws -> Bitmap {
        let isOpaque = mode.isOpaque(source: source.isOpaque, destination: destination.isOpaque)
        return try Bitmap(size: size, isOpaque: isOpaque) { output in
            for top in stride(from: 0, to: size.height, by: Self.tile.height) {
                for left in stride(from: 0, to: size.width, by: Self.tile.width) {
                    try context.checkCancellation()
                    let rect = PixelRect(
                        x: left, y: top, width: min(Self.tile.width, size.width - left),
                        height: min(Self.tile.height, size.height - top))
                    try draw(rect, onto: output)
                }
            }
        }
    }

    private func draw(_ rect: PixelRect, onto output: UnsafeMutableRawBufferPointer) throws {
        let target = try CairoSurface(output, width: size.width, rect, processor: processor)
        try target.draw { cairo in
            try paint(destination, rect, CAIRO_OPERATOR_SOURCE, cairo)
            try paint(source, rect, mode.cairo, cairo)
        }
    }

    private func paint(_ layer: Layer, _ rect: PixelRect, _ mode: cairo_operator_t, _ cairo: OpaquePointer) throws {
        cairo_set_operator(cairo, mode)
        switch layer {
        case .color(let color):
            let color = color.clamped
            cairo_set_source_rgba(cairo, color.red, color.green, color.blue, color.alpha)
            cairo_paint(cairo)
        case .bitmap(let bitmap, let alpha):
            try bitmap.withPixels { bytes in
                // Cairo has a single type for memory that it reads and memory that it writes.
                let memory = UnsafeMutableRawBufferPointer(mutating: bytes)
                let surface = try CairoSurface(memory, width: bitmap.width, rect, processor: processor)
                cairo_set_source_surface(cairo, surface.pointer, 0, 0)
                paint(cairo, alpha: alpha, mode)
                // The surface is destroyed here, but Cairo would keep it as its last source.
                cairo_set_source_rgba(cairo, 0, 0, 0, 0)
            }
        }
    }

    /// Paints the current source. An alpha below 1 makes the layer itself fainter before it is combined by the mode,
    /// rather than the result.
    private func paint(_ cairo: OpaquePointer, alpha: Double, _ mode: cairo_operator_t) {
        guard alpha < 1 else { return cairo_paint(cairo) }
        cairo_push_group(cairo)
        cairo_set_operator(cairo, CAIRO_OPERATOR_SOURCE)
        cairo_paint(cairo)
        cairo_set_operator(cairo, CAIRO_OPERATOR_DEST_IN)
        cairo_set_source_rgba(cairo, 0, 0, 0, alpha)
        cairo_paint(cairo)
        cairo_pop_group_to_source(cairo)
        cairo_set_operator(cairo, mode)
        cairo_paint(cairo)
    }
}
