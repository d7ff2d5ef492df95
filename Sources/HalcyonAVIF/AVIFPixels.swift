import CAVIF
import CHalcyonCodecs
import HalcyonCodecs
import Foundation
import HalcyonImage

/// A picture that libavif has decoded, on its way from YUV to a bitmap.
struct AVIFPixels {
    let image: UnsafeMutablePointer<avifImage>
    let size: PixelSize
    private let hasAlpha: Bool

    /// - Parameter hasAlpha: whether the header declares alpha.
    init(image: UnsafeMutablePointer<avifImage>, size: PixelSize, hasAlpha: Bool) {
        (self.image, self.size) = (image, size)
        self.hasAlpha = hasAlpha && image.pointee.alphaPlane != nil
    }

    /// Whether the file stores pixels that are premultiplied. They stay as they are.
    private var isMultiplied: Bool { image.pointee.alphaPremultiplied != 0 }

    /// Returns the pixels of 8 bits.
    func bitmap() throws -> Bitmap {
        try Bitmap(size: size, isOpaque: !hasAlpha) { pixels in
            let start = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
            try convert(to: start, depth: 8, format: AVIF_RGB_FORMAT_BGRA, isMultiplied: isMultiplied)
            finish(start, isMultiplied: isMultiplied)
        }
    }

    /// Returns the pixels of more than 8 bits, which are converted by a profile and then rounded.
    ///
    /// - Throws: `BitmapError.outOfMemory`, `CodecError.damaged`.
    func deepBitmap(converting profile: ColorProfile?) throws -> Bitmap {
        let transform = try ColorTransforms.shared.transform(for: profile, isDeep: true)
        let rowBytes = size.width * 8
        guard let words = malloc(rowBytes * size.height) else {
            throw BitmapError.outOfMemory(bytes: rowBytes * size.height)
        }
        defer { free(words) }
        let start = words.assumingMemoryBound(to: UInt8.self)
        // Colours are converted without their alpha.
        let isMultiplied = isMultiplied && transform == nil
        try convert(to: start, depth: 16, format: AVIF_RGB_FORMAT_RGBA, isMultiplied: isMultiplied)
        return try Bitmap(size: size, isOpaque: !hasAlpha) { pixels in
            guard let target = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            let deep = transform?.deep ?? halcyon_codec_deep()
            withExtendedLifetime(transform) {
                for y in 0..<size.height {
                    let (row, pixel) = (words + y * rowBytes, target + y * size.width * 4)
                    if let convert = deep.convert {
                        convert(deep.context, row.assumingMemoryBound(to: UInt16.self), pixel, size.width)
                    } else {
                        halcyon_rgba_to_bgra(start + y * rowBytes, pixel, size.width, 16)
                    }
                }
            }
            finish(target, isMultiplied: isMultiplied)
        }
    }

    /// Writes RGBA of 16 bits a channel, not premultiplied.
    ///
    /// - Throws: `BitmapError.outOfMemory`, `CodecError.damaged`.
    func write(to words: UnsafeMutableRawBufferPointer) throws {
        try convert(
            to: words.baseAddress?.assumingMemoryBound(to: UInt8.self), depth: 16, format: AVIF_RGB_FORMAT_RGBA,
            isMultiplied: false)
    }

    /// Converts YUV. libavif premultiplies alpha with errors of one level, so that it is left to `finish`, which rounds
    /// to the nearest: a losslessly encoded image comes back without loss.
    private func convert(
        to pixels: UnsafeMutablePointer<UInt8>?, depth: UInt32, format: avifRGBFormat, isMultiplied: Bool
    ) throws {
        var rgb = avifRGBImage()
        avifRGBImageSetDefaults(&rgb, image)
        rgb.depth = depth
        rgb.format = format
        rgb.alphaPremultiplied = isMultiplied ? 1 : 0
        rgb.pixels = pixels
        rgb.rowBytes = UInt32(size.width) * (depth > 8 ? 8 : 4)
        try AVIFFile.check(avifImageYUVToRGB(image, &rgb))
    }

    private func finish(_ pixels: UnsafeMutablePointer<UInt8>?, isMultiplied: Bool) {
        if !hasAlpha {
            halcyon_make_opaque(pixels, size.width * size.height)
        } else if !isMultiplied {
            halcyon_premultiply(pixels, size.width * size.height)
        }
    }
}
