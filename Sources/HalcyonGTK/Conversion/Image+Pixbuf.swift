import CGTK
import Halcyon

extension Image {
    /// Creates an image from a copy of a pixbuf's pixels; `info.format` is `.bitmap`.
    ///
    /// RGB and RGBA with rows of any length are supported. The pixbuf's options are ignored: the pixels are taken to be sRGB
    /// and upright. Colours are rounded to premultiplied values: with an alpha of 1, each channel is 0 or 1, so a pixel is
    /// black or one of seven colours.
    ///
    /// Call it on any thread, as long as nothing writes to the pixbuf.
    ///
    /// - Parameter pixbuf: a `GdkPixbuf`, which is only read; no reference to it is taken.
    /// - Throws: `ImageConversionError.unsupportedPixbuf`, `.tooLarge`, `.outOfMemory`.
    public init(pixbuf: OpaquePointer) throws {
        let size = PixelSize(Int(gdk_pixbuf_get_width(pixbuf)), Int(gdk_pixbuf_get_height(pixbuf)))
        let channels = Int(gdk_pixbuf_get_n_channels(pixbuf))
        let rowBytes = Int(gdk_pixbuf_get_rowstride(pixbuf))
        guard gdk_pixbuf_get_colorspace(pixbuf) == GDK_COLORSPACE_RGB, gdk_pixbuf_get_bits_per_sample(pixbuf) == 8,
            channels == (gdk_pixbuf_get_has_alpha(pixbuf) != 0 ? 4 : 3)
        else {
            let bits = gdk_pixbuf_get_bits_per_sample(pixbuf)
            throw ImageConversionError.unsupportedPixbuf(reason: "it has \(channels) channels of \(bits) bits")
        }
        guard let pixels = gdk_pixbuf_read_pixels(pixbuf), rowBytes >= size.width * channels else {
            throw ImageConversionError.unsupportedPixbuf(reason: "its rows are \(rowBytes) bytes long")
        }
        let bitmap = try Bitmap.converted(size) { bytes in
            var isOpaque = true
            for row in 0..<size.height {
                // The last row may end with its last pixel.
                let source = UnsafeBufferPointer(start: pixels + row * rowBytes, count: size.width * channels)
                let target = UnsafeMutableRawBufferPointer(
                    rebasing: bytes[row * size.width * 4..<(row + 1) * size.width * 4])
                isOpaque = Self.premultiply(source, channels: channels, into: target) && isOpaque
            }
            return isOpaque
        }
        self.init(converted: bitmap)
    }

    /// Creates a `GdkPixbuf` of the first frame: RGBA with straight (not premultiplied) colours, or RGB if the image is opaque.
    ///
    /// The pixels are copied. The colour under an alpha of 0 is black. An image that is created from the pixbuf has exactly the
    /// same pixels.
    ///
    /// - Returns: a new pixbuf with one reference, which the caller owns: release it with `g_object_unref`.
    /// - Throws: `ImageConversionError.outOfMemory`.
    public func makePixbuf() throws -> OpaquePointer {
        let channels = bitmap.isOpaque ? 3 : 4
        guard
            let pixbuf = gdk_pixbuf_new(
                GDK_COLORSPACE_RGB, bitmap.isOpaque ? 0 : 1, 8, Int32(bitmap.width), Int32(bitmap.height)),
            let pixels = gdk_pixbuf_get_pixels(pixbuf)
        else { throw ImageConversionError.outOfMemory(bytes: bitmap.width * bitmap.height * channels) }
        let rowBytes = Int(gdk_pixbuf_get_rowstride(pixbuf))
        for row in 0..<bitmap.height {
            bitmap.copyPixels(
                row * bitmap.width..<(row + 1) * bitmap.width, layout: bitmap.isOpaque ? .rgb : .rgba,
                to: pixels + row * rowBytes)
        }
        return pixbuf
    }

    /// - Returns: whether every alpha byte is 255.
    private static func premultiply(
        _ source: UnsafeBufferPointer<UInt8>, channels: Int, into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var isOpaque = true
        for pixel in 0..<target.count / 4 {
            let (from, to) = (pixel * channels, pixel * 4)
            let alpha = channels == 4 ? Int(source[from + 3]) : 255
            if alpha != 255 { isOpaque = false }
            for channel in 0..<3 {
                target[to + 2 - channel] = UInt8((Int(source[from + channel]) * alpha + 127) / 255)
            }
            target[to + 3] = UInt8(alpha)
        }
        return isOpaque
    }
}
