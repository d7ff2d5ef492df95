import Halcyon

extension Bitmap {
    /// Creates a bitmap from pixels that `fill` writes, for conversions from other libraries.
    ///
    /// - Parameter fill: writes all pixels, and returns whether every alpha byte is 255.
    /// - Throws: `ImageConversionError`, and any error of `fill`.
    static func converted(_ size: PixelSize, fill: (UnsafeMutableRawBufferPointer) throws -> Bool) throws -> Bitmap {
        guard !size.isEmpty else { throw ImageConversionError.empty(size) }
        do {
            return try Bitmap(size: size, fill: fill)
        } catch BitmapError.outOfMemory(let bytes) {
            throw ImageConversionError.outOfMemory(bytes: bytes)
        } catch is BitmapError {
            throw ImageConversionError.tooLarge(size, maximumSide: Bitmap.maximumSide)
        }
    }

    /// Limits each colour channel to the alpha of its pixel: premultiplied colours cannot be higher, but other libraries do not
    /// enforce that.
    ///
    /// - Parameter pixels: a whole number of pixels.
    /// - Returns: whether every alpha byte is 255.
    static func settle(_ pixels: UnsafeMutableRawBufferPointer) -> Bool {
        var isOpaque = true
        for pixel in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = pixels[pixel + 3]
            guard alpha != 255 else { continue }
            isOpaque = false
            for channel in pixel..<pixel + 3 { pixels[channel] = min(pixels[channel], alpha) }
        }
        return isOpaque
    }
}

extension Image {
    /// Creates an image from a converted bitmap.
    init(converted bitmap: Bitmap) {
        self.init(
            bitmap: bitmap, info: ImageInfo(format: .bitmap, size: bitmap.size, hasAlpha: !bitmap.isOpaque))
    }
}
