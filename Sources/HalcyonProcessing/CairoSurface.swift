import CCairo
import HalcyonImage

/// A Cairo surface over a bitmap's memory: Cairo's ARGB32 is the canonical layout, so nothing is converted.
///
/// It must not outlive the memory: make it inside `withPixels` or a bitmap's `fill`.
struct CairoSurface: ~Copyable {
    /// Cairo's own limit for a side is 32,767 pixels, but a source of that size draws nothing, without a word: Pixman
    /// adds a pixel at each edge and leaves out what its 16 bits cannot hold then.
    static let maximumSide = 32_766

    let pointer: OpaquePointer

    /// - Throws: `ProcessingError`.
    init(_ memory: UnsafeMutableRawBufferPointer, size: PixelSize) throws {
        guard size.width <= Self.maximumSide, size.height <= Self.maximumSide else {
            throw ProcessingError.notApplicable(
                processor: "drawing", reason: "an image of \(size) pixels; sides are at most \(Self.maximumSide)")
        }
        let surface = cairo_image_surface_create_for_data(
            memory.baseAddress?.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, Int32(size.width),
            Int32(size.height), Int32(size.width * 4))
        guard let surface, cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else {
            throw ProcessingError.failed(processor: "drawing", reason: "no surface of \(size) pixels")
        }
        pointer = surface
    }

    deinit {
        cairo_surface_destroy(pointer)
    }

    /// Draws on the surface.
    ///
    /// - Throws: `ProcessingError.failed` with what Cairo said.
    func draw(_ body: (OpaquePointer) -> Void) throws {
        guard let cairo = cairo_create(pointer) else {
            throw ProcessingError.failed(processor: "drawing", reason: "no memory")
        }
        defer { cairo_destroy(cairo) }
        body(cairo)
        let status = cairo_status(cairo)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw ProcessingError.failed(processor: "drawing", reason: String(cString: cairo_status_to_string(status)))
        }
        cairo_surface_flush(pointer)
    }
}
