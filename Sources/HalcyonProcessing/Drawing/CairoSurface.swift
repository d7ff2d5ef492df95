import CCairo
import HalcyonImage

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
