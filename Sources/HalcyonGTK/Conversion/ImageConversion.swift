import Foundation
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

/// The error of a conversion between an image and a type of GTK, GDK or Cairo.
public enum ImageConversionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A Cairo surface without pixels of its own, such as that of a PDF or a window: paint it onto an image surface first.
    case notAnImageSurface
    /// A Cairo surface that is finished or in an error state; the reason is Cairo's.
    case brokenSurface(reason: String)
    /// A pixbuf that is not RGB or RGBA with 8 bits a channel.
    case unsupportedPixbuf(reason: String)
    /// There are no pixels: a side is zero.
    case empty(PixelSize)
    /// A side exceeds the limit of the result: `Bitmap.maximumSide`, or 32,767 pixels for a Cairo surface.
    case tooLarge(PixelSize, maximumSide: Int)
    /// The system has no memory for the result.
    case outOfMemory(bytes: Int)

    public var description: String {
        switch self {
        case .notAnImageSurface: "the surface is no image surface"
        case .brokenSurface(let reason): "the surface cannot be read: \(reason)"
        case .unsupportedPixbuf(let reason): "the pixbuf cannot be read: \(reason)"
        case .empty(let size): "there are no pixels in \(size)"
        case .tooLarge(let size, let side): "\(size) pixels are too many; a side may have \(side)"
        case .outOfMemory(let bytes): "no memory for \(bytes) bytes"
        }
    }
}

extension ImageConversionError: LocalizedError {
    public var errorDescription: String? { description }

    /// A line about what the program can do; nil if there is nothing to say.
    public var recoverySuggestion: String? {
        if case .notAnImageSurface = self { "Paint the surface onto an image surface first." } else { nil }
    }
}
