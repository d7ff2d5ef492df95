import CGTK
import Glibc
import Halcyon

extension Image {
    /// The maximum side length of Cairo's image surfaces, in pixels.
    private static let maximumSurfaceSide = 32_767

    /// Creates an image from a copy of a Cairo image surface's pixels; `info.format` is `.bitmap`.
    ///
    /// ARGB32 and RGB24 are copied as they are; all other formats are painted onto ARGB32 by Cairo. A surface of alpha alone
    /// (A8, A1) becomes black with that alpha, and `isTemplate`. The surface's device scale becomes the image's `scale`; its
    /// device offset is ignored.
    ///
    /// Call it on any thread, as long as nothing draws on the surface. Pending drawing on it is flushed.
    ///
    /// - Parameter surface: a `cairo_surface_t`; no reference to it is taken.
    /// - Throws: `ImageConversionError`, but not `.unsupportedPixbuf`.
    public init(surface: OpaquePointer) throws {
        try Self.check(surface)
        cairo_surface_flush(surface)
        guard let data = cairo_image_surface_get_data(surface) else {
            // No data: a surface without pixels, or one that was finished meanwhile.
            throw ImageConversionError.empty(Self.size(of: surface))
        }
        let format = cairo_image_surface_get_format(surface)
        let rowBytes = Int(cairo_image_surface_get_stride(surface))
        let size = Self.size(of: surface)
        let bitmap = try Bitmap.converted(size) { bytes in
            if format == CAIRO_FORMAT_ARGB32 || format == CAIRO_FORMAT_RGB24 {
                Self.copy(data, rowBytes, size, into: bytes, isOpaque: format == CAIRO_FORMAT_RGB24)
            } else {
                try Self.paint(data, rowBytes, format, size, into: bytes)
            }
            return Bitmap.settle(bytes)
        }
        self.init(converted: bitmap)
        isTemplate = cairo_surface_get_content(surface) == CAIRO_CONTENT_ALPHA
        var (across, down) = (1.0, 1.0)
        cairo_surface_get_device_scale(surface, &across, &down)
        if across == down, across > 0, across.isFinite { scale = across }
    }

    /// Creates a Cairo image surface of the first frame: ARGB32, or RGB24 if the image is opaque.
    ///
    /// The pixels are copied, since a surface can be drawn on and an image never changes. The image's `scale` becomes the
    /// device scale, so that the surface is drawn at the image's size in units.
    ///
    /// - Returns: a new surface with one reference, which the caller owns: release it with `cairo_surface_destroy`.
    /// - Throws: `ImageConversionError.tooLarge` for a side of more than 32,767 pixels, `.outOfMemory`.
    public func makeSurface() throws -> OpaquePointer {
        guard max(width, height) <= Self.maximumSurfaceSide else {
            throw ImageConversionError.tooLarge(size, maximumSide: Self.maximumSurfaceSide)
        }
        let format = bitmap.isOpaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32
        guard let surface = cairo_image_surface_create(format, Int32(width), Int32(height)) else {
            throw ImageConversionError.outOfMemory(bytes: bitmap.byteCount)
        }
        guard cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
            let data = cairo_image_surface_get_data(surface)
        else {
            cairo_surface_destroy(surface)
            throw ImageConversionError.outOfMemory(bytes: bitmap.byteCount)
        }
        let rowBytes = Int(cairo_image_surface_get_stride(surface))
        bitmap.withPixels { bytes in
            guard let start = bytes.baseAddress else { return }
            for row in 0..<height {
                memcpy(data + row * rowBytes, start + row * bitmap.bytesPerRow, bitmap.bytesPerRow)
            }
        }
        cairo_surface_mark_dirty(surface)
        if scale != 1, scale > 0, scale.isFinite { cairo_surface_set_device_scale(surface, scale, scale) }
        return surface
    }

    private static func size(of surface: OpaquePointer) -> PixelSize {
        PixelSize(Int(cairo_image_surface_get_width(surface)), Int(cairo_image_surface_get_height(surface)))
    }

    /// - Throws: `ImageConversionError` if the surface has no readable pixels.
    private static func check(_ surface: OpaquePointer) throws {
        try check(cairo_surface_status(surface))
        guard cairo_surface_get_type(surface) == CAIRO_SURFACE_TYPE_IMAGE else {
            throw ImageConversionError.notAnImageSurface
        }
        // Cairo has no other way to ask whether a surface is finished; its pixels may be gone then.
        let cairo = cairo_create(surface)
        defer { cairo_destroy(cairo) }
        try check(cairo_status(cairo))
    }

    private static func check(_ status: cairo_status_t) throws {
        guard status == CAIRO_STATUS_SUCCESS else {
            throw ImageConversionError.brokenSurface(reason: String(cString: cairo_status_to_string(status)))
        }
    }

    private static func copy(
        _ data: UnsafePointer<UInt8>, _ rowBytes: Int, _ size: PixelSize,
        into bytes: UnsafeMutableRawBufferPointer, isOpaque: Bool
    ) {
        guard let start = bytes.baseAddress else { return }
        let width = size.width * 4
        for row in 0..<size.height { memcpy(start + row * width, data + row * rowBytes, width) }
        // The fourth byte of RGB24 is undefined.
        guard isOpaque else { return }
        for alpha in stride(from: 3, to: bytes.count, by: 4) { bytes[alpha] = 255 }
    }

    private static func paint(
        _ data: UnsafeMutablePointer<UInt8>, _ rowBytes: Int, _ format: cairo_format_t, _ size: PixelSize,
        into bytes: UnsafeMutableRawBufferPointer
    ) throws {
        let (width, height) = (Int32(size.width), Int32(size.height))
        // The same pixels without the surface's device scale and offset.
        let source = cairo_image_surface_create_for_data(data, format, width, height, Int32(rowBytes))
        defer { cairo_surface_destroy(source) }
        let target = cairo_image_surface_create_for_data(
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), CAIRO_FORMAT_ARGB32, width, height, width * 4)
        defer {
            cairo_surface_finish(target)
            cairo_surface_destroy(target)
        }
        let cairo = cairo_create(target)
        defer { cairo_destroy(cairo) }
        cairo_set_source_surface(cairo, source, 0, 0)
        cairo_set_operator(cairo, CAIRO_OPERATOR_SOURCE)
        cairo_paint(cairo)
        try check(cairo_status(cairo))
    }
}
