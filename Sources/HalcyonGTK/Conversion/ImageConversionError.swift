import Halcyon

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
