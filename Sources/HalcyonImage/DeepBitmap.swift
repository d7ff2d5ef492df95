import CHalcyonPixels
import Foundation

/// Pixels of 16 bits a channel in a named colour space: RGBA, premultiplied, rows from top to bottom without padding.
///
/// In memory each pixel is the words red, green, blue, alpha in the machine's order. Colours are multiplied by alpha as they are
/// encoded, as those of a `Bitmap` are. It is immutable. Cost: `width * height * 8` bytes.
public final class DeepBitmap: Sendable {
    /// The type of the channels and the colour space of the pixels.
    public struct Format: Hashable, Sendable {
        /// The type of one channel.
        public var channels: Channels
        /// The colour space of the values.
        public var colorSpace: NamedColorSpace

        /// Creates a format: integers in sRGB unless something else is given.
        public init(_ channels: Channels = .uint16, colorSpace: NamedColorSpace = .sRGB) {
            (self.channels, self.colorSpace) = (channels, colorSpace)
        }
    }

    /// The type of one channel.
    public enum Channels: String, Hashable, Sendable, CaseIterable {
        /// An integer from 0 to 65,535. Colours outside of the space are clipped.
        case uint16
        /// A floating-point number of 16 bits (IEEE 754 binary16), of which 0 is black and 1 is full. Its precision is 1/2048 of the
        /// value. In the spaces with the curve of sRGB and in linear light, colours outside of the space are kept as numbers below 0
        /// and above 1.
        case float16

        package var kernel: halcyon_channels {
            self == .float16 ? HALCYON_CHANNELS_FLOAT16 : HALCYON_CHANNELS_UINT16
        }
    }

    /// The size in pixels; each side is from 1 to `Bitmap.maximumSide`.
    public let size: PixelSize
    /// The type of the channels and the colour space.
    public let format: Format
    /// Whether every alpha is full.
    public let isOpaque: Bool
    private let storage: PixelStorage

    /// The width in pixels.
    public var width: Int { size.width }
    /// The height in pixels.
    public var height: Int { size.height }
    /// The bytes of one row: always `width * 8`.
    public var bytesPerRow: Int { size.width * 8 }
    /// The number of bytes of all rows: `width * height * 8`.
    public var byteCount: Int { storage.byteCount }

    /// Creates a bitmap and has `fill` write its memory, which is uninitialized: `fill` must write every byte.
    ///
    /// - Throws: `BitmapError`, and any error that `fill` throws.
    public convenience init(
        size: PixelSize, format: Format, isOpaque: Bool, fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
        try self.init(size: size, format: format) { bytes in
            try fill(bytes)
            return isOpaque
        }
    }

    /// Creates a bitmap whose `isOpaque` is what `fill` returns.
    package init(
        size: PixelSize, format: Format, filling fill: (UnsafeMutableRawBufferPointer) throws -> Bool
    ) throws {
        guard size.width > 0, size.height > 0, size.width <= Bitmap.maximumSide, size.height <= Bitmap.maximumSide
        else { throw BitmapError.invalidSize(size) }
        (self.size, self.format) = (size, format)
        let storage = try PixelStorage(byteCount: size.width * size.height * 8)
        self.storage = storage
        isOpaque = try fill(UnsafeMutableRawBufferPointer(start: storage.base, count: storage.byteCount))
    }

    /// Whether every alpha is full, whatever the header of a file says. Costs a look at each pixel that may be transparent.
    package var hasOpaquePixelsOnly: Bool {
        isOpaque
            || withPixels {
                halcyon_deep_is_opaque(
                    $0.baseAddress?.assumingMemoryBound(to: UInt16.self), format.channels.kernel, width * height)
            }
    }

    /// Calls `body` with the pixels in place, without a copy.
    public func withPixels<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: storage.base, count: storage.byteCount))
    }

    /// Returns the red, green, blue and alpha (premultiplied) of a pixel as numbers of which 1 is full; nil outside the bitmap.
    public func pixel(x: Int, y: Int) -> (red: Float, green: Float, blue: Float, alpha: Float)? {
        guard x >= 0, y >= 0, x < width, y < height else { return nil }
        return withPixels { bytes in
            func value(_ channel: Int) -> Float {
                let word = bytes.load(fromByteOffset: (y * width + x) * 8 + channel * 2, as: UInt16.self)
                return format.channels == .float16 ? halcyon_half_to_float(word) : Float(word) / 65535
            }
            return (value(0), value(1), value(2), value(3))
        }
    }
}

/// A colour space that has a name, for the pixels of a `DeepBitmap`. All of them have the white point D65.
public enum NamedColorSpace: String, Hashable, Sendable, CaseIterable {
    /// IEC 61966-2-1: the primaries of ITU-R BT.709 with the curve of sRGB.
    case sRGB
    /// The primaries of SMPTE EG 432-1 with the curve of sRGB.
    case displayP3
    /// The primaries of ITU-R BT.2020 with the curve of SMPTE ST 2084, as in ITU-R BT.2100: a value of 1 is 10,000 cd/m2, and the
    /// white of sRGB is at 203 cd/m2 (ITU-R BT.2408).
    case bt2020PQ
    /// The primaries of ITU-R BT.2020 with the curve HLG of ITU-R BT.2100. Where it is converted, a display of 1,000 cd/m2 is
    /// assumed, so that the white of sRGB is at 75 % of the signal.
    case bt2020HLG
    /// The primaries of ITU-R BT.709 in linear light: 1 is the white of sRGB, 203 cd/m2 of a space that is absolute.
    case linearSRGB

    /// The curve by which light is averaged; HLG's is that of the scene's light.
    package var transfer: halcyon_transfer {
        switch self {
        case .sRGB, .displayP3: halcyon_transfer(curve: HALCYON_CURVE_SRGB, gamma: 0)
        case .bt2020PQ: halcyon_transfer(curve: HALCYON_CURVE_PQ, gamma: 0)
        case .bt2020HLG: halcyon_transfer(curve: HALCYON_CURVE_HLG, gamma: 0)
        case .linearSRGB: halcyon_transfer(curve: HALCYON_CURVE_LINEAR, gamma: 0)
        }
    }
}
