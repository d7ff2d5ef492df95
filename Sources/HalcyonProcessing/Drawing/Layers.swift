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

/// A Cairo surface over a part of a bitmap's memory. Cairo's ARGB32 is the canonical layout, so nothing is converted.
///
/// It must not outlive the memory: create it inside `withPixels` or a bitmap's `fill`.
struct CairoSurface: ~Copyable {
    let pointer: OpaquePointer
    private let processor: String

    /// - Parameters:
    ///   - width: The number of pixels in a row of the whole memory.
    ///   - rect: The part, with sides of at most 32,766 pixels: Pixman adds one at each edge and silently draws
    ///     nothing if 16 bits do not hold the sum.
    /// - Throws: `ProcessingError.failed`.
    init(_ memory: UnsafeMutableRawBufferPointer, width: Int, _ rect: PixelRect, processor: String) throws {
        let first = memory.baseAddress.map { $0 + (rect.y * width + rect.x) * 4 }
        let surface = cairo_image_surface_create_for_data(
            first?.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(rect.size.width),
            Int32(rect.size.height), Int32(width * 4))
        guard let surface, cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else {
            throw ProcessingError.failed(processor: processor, reason: "no surface of \(rect.size) pixels")
        }
        pointer = surface
        self.processor = processor
    }

    deinit {
        cairo_surface_destroy(pointer)
    }

    /// Draws on the surface.
    ///
    /// - Throws: `ProcessingError.failed` with Cairo's message; the errors of `body`.
    func draw(_ body: (OpaquePointer) throws -> Void) throws {
        guard let cairo = cairo_create(pointer) else {
            throw ProcessingError.failed(processor: processor, reason: "no memory")
        }
        defer { cairo_destroy(cairo) }
        try body(cairo)
        let status = cairo_status(cairo)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw ProcessingError.failed(
                processor: processor, reason: String(cString: cairo_status_to_string(status)))
        }
        cairo_surface_flush(pointer)
    }
}
