import Halcyon

extension Bitmap {
    /// A bitmap of what `fill` writes, for pixels that come from elsewhere.
    ///
    /// - Parameter fill: writes all of them, and returns whether every alpha byte is 255.
    /// - Throws: `ImageConversionError`, and what `fill` throws.
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

    /// Lowers colours above their alpha, since no such colour exists and who wrote the pixels did not have to care.
    ///
    /// - Parameter pixels: whole pixels.
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
    /// Pixels that come from elsewhere, as they are.
    init(converted bitmap: Bitmap) {
        self.init(
            bitmap: bitmap, info: ImageInfo(format: .bitmap, size: bitmap.size, hasAlpha: !bitmap.isOpaque))
    }
}
