import Foundation

/// Pixels in the one canonical layout: 8-bit BGRA, premultiplied, sRGB, rows from top to bottom without padding.
///
/// In memory each pixel is the bytes blue, green, red, alpha. A bitmap is immutable, so that caches and tasks share it
/// without a copy. Cost: `width * height * 4` bytes.
public final class Bitmap: Sendable {
    /// The longest side that a bitmap may have, in pixels.
    public static let maximumSide = 1 << 20

    /// The size in pixels; each side is from 1 to `maximumSide`.
    public let size: PixelSize
    /// Whether every alpha byte is 255.
    public let isOpaque: Bool
    private let storage: PixelStorage

    /// The width in pixels.
    public var width: Int { size.width }
    /// The height in pixels.
    public var height: Int { size.height }
    /// The bytes of one row: always `width * 4`.
    public var bytesPerRow: Int { size.width * 4 }
    /// The number of bytes of all rows: `width * height * 4`.
    public var byteCount: Int { storage.byteCount }

    /// Creates a bitmap and has `fill` write its memory, which is uninitialized: `fill` must write every byte.
    ///
    /// - Throws: `BitmapError`, and any error that `fill` throws.
    public convenience init(
        size: PixelSize, isOpaque: Bool, fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
        try self.init(size: size) { bytes in
            try fill(bytes)
            return isOpaque
        }
    }

    /// Creates a bitmap whose `isOpaque` is what `fill` returns, for a caller that learns only while filling whether every
    /// alpha byte is 255.
    package init(size: PixelSize, fill: (UnsafeMutableRawBufferPointer) throws -> Bool) throws {
        guard size.width > 0, size.height > 0, size.width <= Self.maximumSide, size.height <= Self.maximumSide else {
            throw BitmapError.invalidSize(size)
        }
        self.size = size
        let storage = try PixelStorage(byteCount: size.width * size.height * 4)
        self.storage = storage
        isOpaque = try fill(UnsafeMutableRawBufferPointer(start: storage.base, count: storage.byteCount))
    }

    /// Creates a bitmap from premultiplied BGRA bytes, `width * height * 4` of them.
    ///
    /// - Throws: `BitmapError.invalidSize` if `pixels` has another count; other `BitmapError`s.
    public convenience init(size: PixelSize, isOpaque: Bool, pixels: some Collection<UInt8>) throws {
        guard let area = size.area, pixels.count == area.multipliedReportingOverflow(by: 4).partialValue else {
            throw BitmapError.invalidSize(size)
        }
        try self.init(size: size, isOpaque: isOpaque) { $0.copyBytes(from: pixels) }
    }

    /// Calls `body` with the pixels in place, without a copy.
    public func withPixels<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: storage.base, count: storage.byteCount))
    }

    /// Returns the blue, green, red and alpha bytes (premultiplied) of a pixel; nil outside the bitmap.
    public func pixel(x: Int, y: Int) -> (blue: UInt8, green: UInt8, red: UInt8, alpha: UInt8)? {
        guard x >= 0, y >= 0, x < width, y < height else { return nil }
        return withPixels { bytes in
            let offset = (y * width + x) * 4
            return (bytes[offset], bytes[offset + 1], bytes[offset + 2], bytes[offset + 3])
        }
    }
}

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

extension BitmapError: LocalizedError {
    public var errorDescription: String? { description }
}
