/// An error that prevents a bitmap from being made.
public enum BitmapError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A side is zero, negative, or larger than `Bitmap.maximumSide`.
    case invalidSize(PixelSize)
    /// A geometry uses a part of its source that is empty, is NaN, or does not lie inside a bitmap of this size.
    case invalidSource(PixelSize)
    /// The system has no memory for the bitmap.
    case outOfMemory(bytes: Int)

    public var description: String {
        switch self {
        case .invalidSize(let size): "a bitmap cannot be \(size) pixels"
        case .invalidSource(let size): "the part to use is empty or not inside \(size) pixels"
        case .outOfMemory(let bytes): "no memory for a bitmap of \(bytes) bytes"
        }
    }
}
