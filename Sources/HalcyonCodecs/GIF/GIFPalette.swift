import CGIF
import HalcyonImage

/// A frame in at most 256 colours: exactly its own if it has no more, otherwise those that giflib selects (median
/// cut).
///
/// Cost: some 13 bytes for each pixel while the colours are selected, 1 byte afterwards.
package struct GIFPalette {
    private(set) var colors: [GifColorType] = []
    /// The colour index of each pixel.
    package private(set) var indices: [UInt8]
    /// The index of pixels with less than half of full alpha; nil if there are none.
    package private(set) var transparentIndex: Int?

    /// Whether each pixel has its own colour.
    package private(set) var isExact = false

    /// The colours, that of `transparentIndex` included.
    package var rgb: [(red: UInt8, green: UInt8, blue: UInt8)] { colors.map { ($0.Red, $0.Green, $0.Blue) } }

    /// Reduces a bitmap to its palette.
    ///
    /// - Parameter maximumColors: the maximum number of colours besides that of clear pixels, from 2 to 256; of 256, clear
    ///   pixels take one.
    /// - Throws: `CodecError.encodingFailed`, for which giflib has one cause: lack of memory.
    package init(_ bitmap: Bitmap, maximumColors: Int = 256) throws {
        let pixels = bitmap.withPixels { Self.straight($0.bindMemory(to: UInt32.self)) }
        let hasClear = pixels.contains(Self.clear)
        let limit = hasClear ? min(maximumColors, 255) : maximumColors
        indices = [GifPixelType](repeating: 0, count: pixels.count)
        isExact = takeExactly(pixels, limit: limit)
        if !isExact { try quantise(pixels, limit: limit) }
        guard hasClear else { return }
        let clearIndex = colors.count
        colors.append(GifColorType(Red: 0, Green: 0, Blue: 0))
        transparentIndex = clearIndex
        for index in pixels.indices where pixels[index] == Self.clear { indices[index] = GifPixelType(clearIndex) }
    }

    /// The value of every pixel with less than half of full alpha. It is different from all colours, which are
    /// `0x00RRGGBB`.
    private static let clear = UInt32.max

    private static func straight(_ pixels: UnsafeBufferPointer<UInt32>) -> [UInt32] {
        pixels.map { pixel in
            let alpha = pixel >> 24
            guard alpha >= 128 else { return clear }
            guard alpha < 255 else { return pixel & 0xFF_FFFF }
            return [16, 8, 0].reduce(0) { color, shift in
                color | min(255, ((pixel >> shift & 255) * 255 + alpha / 2) / alpha) << shift
            }
        }
    }

    private mutating func takeExactly(_ pixels: [UInt32], limit: Int) -> Bool {
        var places: [UInt32: GifPixelType] = [:]
        for (index, color) in pixels.enumerated() where color != Self.clear {
            if let place = places[color] {
                indices[index] = place
            } else {
                guard colors.count < limit else {
                    colors = []
                    return false
                }
                places[color] = GifPixelType(colors.count)
                indices[index] = GifPixelType(colors.count)
                colors.append(Self.color(color))
            }
        }
        return true
    }

    private static func color(_ value: UInt32) -> GifColorType {
        GifColorType(
            Red: GifByteType(value >> 16 & 255), Green: GifByteType(value >> 8 & 255),
            Blue: GifByteType(value & 255))
    }

    private mutating func quantise(_ pixels: [UInt32], limit: Int) throws {
        let count = pixels.reduce(0) { $1 == Self.clear ? $0 : $0 + 1 }
        func channel(_ shift: UInt32) -> [GifByteType] {
            var values: [GifByteType] = []
            values.reserveCapacity(count)
            for pixel in pixels where pixel != Self.clear { values.append(GifByteType(pixel >> shift & 255)) }
            return values
        }
        var (red, green, blue) = (channel(16), channel(8), channel(0))
        var output = [GifByteType](repeating: 0, count: count)
        var map = [GifColorType](repeating: GifColorType(), count: 256)
        var colorCount = Int32(limit)
        guard
            GifQuantizeBuffer(
                UInt32(clamping: count), 1, &colorCount, &red, &green, &blue, &output, &map) == GIF_OK
        else { throw CodecError.encodingFailed(.gif, reason: "out of memory while reducing the colours") }
        colors = Array(map.prefix(Int(colorCount)))
        var chosen = output.makeIterator()
        for place in pixels.indices where pixels[place] != Self.clear { indices[place] = chosen.next() ?? 0 }
    }
}
