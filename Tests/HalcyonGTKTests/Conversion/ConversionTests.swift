import CGTK
import Glibc
import Halcyon
import Testing

@testable import HalcyonGTK

/// Pixels to and from GDK, GdkPixbuf and Cairo; none of it needs a screen.
@Suite struct ConversionTests {
    /// Every alpha from 0 to 255 in rows, with colours up to it.
    private static func translucent() throws -> Image {
        var pixels: [UInt8] = []
        for alpha in 0..<256 {
            for x in 0..<64 {
                let colors: [Int] = [alpha * x / 63, alpha * (63 - x) / 63, alpha, alpha]
                pixels += colors.map { UInt8($0) }
            }
        }
        return try Image(width: 64, height: 256, pixels: pixels)
    }

    private static func opaque(_ width: Int, _ height: Int) throws -> Image {
        var pixels: [UInt8] = []
        for index in 0..<width * height {
            let colors: [Int] = [index, index * 7, index * 31, 255]
            pixels += colors.map { UInt8($0 % 256) }
        }
        return try Image(width: width, height: height, pixels: pixels)
    }

    private static func samples() throws -> [Image] {
        [
            try translucent(), try opaque(7, 5), try opaque(1, 1), try Colors.image([9, 8, 7, 40], 1, 1),
            try Colors.image(Colors.clear, 3, 1),
        ]
    }

    private func bytes(_ image: Image) -> [UInt8] { image.withPixels { Array($0) } }

    private func bytes(_ pixels: [UInt8]) -> OpaquePointer {
        g_bytes_new(pixels, gsize(pixels.count))
    }

    private func expectSame(_ left: Image, _ right: Image, _ comment: Comment? = nil) {
        #expect(left.size == right.size && bytes(left) == bytes(right), comment)
        #expect(left.bitmap.isOpaque == right.bitmap.isOpaque && left.info.hasAlpha == right.info.hasAlpha, comment)
    }

    // MARK: - Textures

    @Test func texturesComeBackAsTheyWere() throws {
        for image in try Self.samples() {
            let texture = image.makeTexture()
            defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
            expectSame(try Image(texture: texture), image, "\(image.size)")
        }
    }

    @Test func aTextureOfAnotherFormatAndARowOfItsOwnLength() throws {
        let data = bytes([10, 20, 30, 40, 50, 60, 0, 70, 80, 90, 100, 110, 120, 0])
        let texture = gdk_memory_texture_new(2, 2, GDK_MEMORY_R8G8B8, data, 7)
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        g_bytes_unref(data)
        let image = try Image(texture: try #require(texture))
        #expect(bytes(image) == [30, 20, 10, 255, 60, 50, 40, 255, 90, 80, 70, 255, 120, 110, 100, 255])
        #expect(image.bitmap.isOpaque && image.info.format == .bitmap)
    }

    @Test func coloursAboveTheirAlphaAreLowered() throws {
        let data = bytes([200, 10, 100, 100])
        let texture = gdk_memory_texture_new(1, 1, GDK_MEMORY_B8G8R8A8_PREMULTIPLIED, data, 4)
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        g_bytes_unref(data)
        #expect(bytes(try Image(texture: try #require(texture))) == [100, 10, 100, 100])
    }

    @Test func aTextureThatIsTooLong() throws {
        let width = Bitmap.maximumSide + 1
        let data = bytes([UInt8](repeating: 0, count: width * 3))
        let texture = gdk_memory_texture_new(Int32(width), 1, GDK_MEMORY_R8G8B8, data, gsize(width * 3))
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        g_bytes_unref(data)
        #expect(throws: ImageConversionError.tooLarge(PixelSize(width, 1), maximumSide: Bitmap.maximumSide)) {
            try Image(texture: try #require(texture))
        }
    }

    @Test func theReferenceIsTheCallers() throws {
        weak var bitmap: Bitmap?
        var texture: OpaquePointer?
        do {
            let image = try Self.opaque(2, 2)
            bitmap = image.bitmap
            texture = image.makeTexture()
        }
        #expect(bitmap != nil)
        g_object_unref(UnsafeMutableRawPointer(texture))
        #expect(bitmap == nil)
    }

    // MARK: - Pixbufs

    /// Exact: to whole steps of the colour and back is less than half a step of the multiplied one.
    @Test func pixbufsComeBackAsTheyWere() throws {
        for image in try Self.samples() {
            let pixbuf = try image.makePixbuf()
            defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
            #expect((gdk_pixbuf_get_has_alpha(pixbuf) != 0) == !image.bitmap.isOpaque)
            #expect(gdk_pixbuf_get_n_channels(pixbuf) == (image.bitmap.isOpaque ? 3 : 4))
            expectSame(try Image(pixbuf: pixbuf), image, "\(image.size)")
        }
    }

    @Test func aPixbufsColoursAreNotMultiplied() throws {
        let pixbuf = try Colors.image([64, 128, 0, 128], 1, 1).makePixbuf()
        defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
        let pixels = try #require(gdk_pixbuf_read_pixels(pixbuf))
        #expect(Array(UnsafeBufferPointer(start: pixels, count: 4)) == [128, 255, 0, 128])
    }

    @Test func aPixbufWhoseLastRowEndsWithItsPixels() throws {
        let data = bytes([1, 2, 3, 4, 5, 6, 99, 7, 8, 9, 10, 11, 12])
        let pixbuf = gdk_pixbuf_new_from_bytes(data, GDK_COLORSPACE_RGB, 0, 8, 2, 2, 7)
        defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
        g_bytes_unref(data)
        let image = try Image(pixbuf: try #require(pixbuf))
        #expect(bytes(image) == [3, 2, 1, 255, 6, 5, 4, 255, 9, 8, 7, 255, 12, 11, 10, 255])
        #expect(image.bitmap.isOpaque)
    }

    @Test func aPixbufWithAlphaThatIsOpaque() throws {
        let data = bytes([1, 2, 3, 255])
        let pixbuf = gdk_pixbuf_new_from_bytes(data, GDK_COLORSPACE_RGB, 1, 8, 1, 1, 4)
        defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
        g_bytes_unref(data)
        let image = try Image(pixbuf: try #require(pixbuf))
        #expect(image.bitmap.isOpaque && bytes(image) == [3, 2, 1, 255])
    }

    // MARK: - Surfaces

    @Test func surfacesComeBackAsTheyWere() throws {
        for image in try Self.samples() {
            let surface = try image.makeSurface()
            defer { cairo_surface_destroy(surface) }
            #expect(
                cairo_image_surface_get_format(surface)
                    == (image.bitmap.isOpaque ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32))
            expectSame(try Image(surface: surface), image, "\(image.size)")
        }
    }

    @Test func drawingOnSurfaceDoesNotChangeImage() throws {
        let image = try Self.opaque(2, 2)
        let before = bytes(image)
        let surface = try image.makeSurface()
        defer { cairo_surface_destroy(surface) }
        let cairo = cairo_create(surface)
        cairo_paint(cairo)
        cairo_destroy(cairo)
        let drawn = bytes(try Image(surface: surface))
        #expect(bytes(image) == before && drawn != before)
    }

    @Test func theScaleIsTheDevices() throws {
        var image = try Self.opaque(4, 2)
        image.scale = 2
        let surface = try image.makeSurface()
        defer { cairo_surface_destroy(surface) }
        var (across, down) = (0.0, 0.0)
        cairo_surface_get_device_scale(surface, &across, &down)
        #expect(across == 2 && down == 2)
        let back = try Image(surface: surface)
        #expect(back.scale == 2)
        expectSame(back, image)
    }

    /// - Parameter pixels: rows of `rowBytes`.
    private func image(
        _ format: cairo_format_t, _ width: Int32, _ height: Int32, rowBytes: Int32, _ pixels: [UInt8],
        prepare: (OpaquePointer) -> Void = { _ in }
    ) throws -> Image {
        var pixels = pixels
        return try pixels.withUnsafeMutableBufferPointer { pixels in
            let surface = try #require(
                cairo_image_surface_create_for_data(pixels.baseAddress, format, width, height, rowBytes))
            defer { cairo_surface_destroy(surface) }
            prepare(surface)
            return try Image(surface: surface)
        }
    }

    @Test func rowsOfASurfaceMayBeLonger() throws {
        let translucent = try image(
            CAIRO_FORMAT_ARGB32, 1, 2, rowBytes: 12,
            [1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9, 5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9])
        #expect(bytes(translucent) == [1, 2, 3, 4, 5, 6, 7, 8] && !translucent.isTemplate)
        // The fourth byte is nothing.
        let opaque = try image(
            CAIRO_FORMAT_RGB24, 1, 2, rowBytes: 8, [1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6, 77, 0, 0, 0, 0])
        #expect(bytes(opaque) == [1, 2, 3, 255, 4, 5, 6, 255] && opaque.bitmap.isOpaque)
    }

    @Test func alphaAloneIsATemplate() throws {
        let pixels: [UInt8] = [0, 128, 255, 0, 1, 2, 3, 0]
        let template = try image(CAIRO_FORMAT_A8, 3, 2, rowBytes: 4, pixels)
        #expect(template.isTemplate && !template.bitmap.isOpaque)
        #expect(bytes(template) == [0, 128, 255, 1, 2, 3].flatMap { [0, 0, 0, $0] })
        // As the pixels lie, whatever the surface does to what is drawn.
        let shifted = try image(CAIRO_FORMAT_A8, 3, 2, rowBytes: 4, pixels) { surface in
            cairo_surface_set_device_offset(surface, 5, 5)
            cairo_surface_set_device_scale(surface, 3, 3)
        }
        #expect(bytes(shifted) == bytes(template) && shifted.scale == 3)
    }

    /// To a step of 5 or 6 bits.
    @Test func otherFormatsArePainted() throws {
        let image = try image(CAIRO_FORMAT_RGB16_565, 2, 1, rowBytes: 4, [0x00, 0xF8, 0xE0, 0x07])
        #expect(bytes(image) == [0, 0, 255, 255, 0, 255, 0, 255] && image.bitmap.isOpaque)
    }

    // MARK: - What cannot be

    private func error(_ surface: OpaquePointer?) throws -> ImageConversionError? {
        let surface = try #require(surface)
        defer { cairo_surface_destroy(surface) }
        return #expect(throws: ImageConversionError.self) { try Image(surface: surface) }
    }

    @Test func surfacesThatCannotBeRead() throws {
        #expect(try error(cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, nil)) == .notAnImageSurface)
        #expect(try error(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 0, 3)) == .empty(PixelSize(0, 3)))
        let broken = try error(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, -1, 3))
        let finished = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 3, 3)
        cairo_surface_finish(finished)
        for error in [broken, try error(finished)] {
            guard case .brokenSurface(let reason) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(!reason.isEmpty)
        }
    }

    /// A pixbuf of two channels, which only GObject's generic constructor can make.
    @Test func aPixbufThatIsNeitherRGBNorRGBA() throws {
        let data = bytes([UInt8](repeating: 9, count: 64))
        defer { g_bytes_unref(data) }
        let numbers = ["n-channels": 2, "bits-per-sample": 8, "width": 2, "height": 1, "rowstride": 4]
        var values: [GValue] = []
        for number in numbers.values {
            values.append(GValue())
            g_value_init(&values[values.count - 1], g_type_from_name("gint"))
            g_value_set_int(&values[values.count - 1], Int32(number))
        }
        values.append(GValue())
        g_value_init(&values[values.count - 1], g_bytes_get_type())
        g_value_set_boxed(&values[values.count - 1], UnsafeRawPointer(data))
        defer { for index in values.indices { g_value_unset(&values[index]) } }
        let names = (Array(numbers.keys) + ["pixel-bytes"]).map { strdup($0) }
        defer { for name in names { free(name) } }
        var properties = names.map { UnsafePointer<CChar>($0) }
        let object = g_object_new_with_properties(gdk_pixbuf_get_type(), guint(values.count), &properties, values)
        let pixbuf = UnsafeMutableRawPointer(try #require(object))
        defer { g_object_unref(pixbuf) }
        #expect(throws: ImageConversionError.unsupportedPixbuf(reason: "it has 2 channels of 8 bits")) {
            try Image(pixbuf: OpaquePointer(pixbuf))
        }
    }

    @Test func aSurfaceOfTooManyPixels() throws {
        let image = try Self.opaque(32_768, 1)
        #expect(throws: ImageConversionError.tooLarge(image.size, maximumSide: 32_767)) { try image.makeSurface() }
    }
}
