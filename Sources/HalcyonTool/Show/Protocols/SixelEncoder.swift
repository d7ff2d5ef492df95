import Halcyon
import HalcyonCodecs

/// Pictures in Sixel: bands of six rows, each drawn once for every colour in it.
///
/// Cost: the palette's working memory, and the bytes of the result; the bands share a table of 256 bytes for each column.
enum SixelEncoder {
    /// Returns the sequence that shows a bitmap at the cursor. Pixels with less than half of full alpha are left as they are on
    /// the screen.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of colours, from 2 to 256. A terminal with fewer would draw others in their place.
    ///   - dithers: Whether the error of each pixel's colour is spread over its neighbours. Below 256 colours it always
    ///     is, unless the bitmap has no more of them.
    /// - Throws: `CodecError.encodingFailed` if there is no memory.
    static func sequence(_ bitmap: Bitmap, colors limit: Int = 256, dithers: Bool = false) throws -> [UInt8] {
        let palette = try GIFPalette(bitmap, maximumColors: limit)
        let colors = palette.rgb
        var indices = palette.indices
        if dithers || limit < 256, !palette.isExact {
            SixelDither(colors, clear: palette.transparentIndex).apply(to: bitmap, &indices)
        }
        var writer = Writer(width: bitmap.width)
        writer.begin(bitmap.size, colors: colors, clear: palette.transparentIndex)
        for top in stride(from: 0, to: bitmap.height, by: 6) {
            let rows = min(6, bitmap.height - top)
            let band = indices[top * bitmap.width..<(top + rows) * bitmap.width]
            writer.append(band, clear: palette.transparentIndex)
        }
        return writer.finished
    }

    private struct Writer {
        private var bytes: [UInt8] = []
        private let width: Int
        /// The sixels of the band: a row of columns for each colour, of which those of `used` hold something.
        private var sixels: [UInt8]
        private var used: [Int] = []
        private var isUsed = [Bool](repeating: false, count: 256)
        private var bandCount = 0

        init(width: Int) {
            self.width = width
            sixels = [UInt8](repeating: 0, count: 256 * width)
        }

        /// Begins the picture: pixels that are not drawn keep their colour (the second parameter), cells are square.
        mutating func begin(_ size: PixelSize, colors: [(red: UInt8, green: UInt8, blue: UInt8)], clear: Int?) {
            bytes += "\u{1B}P0;1;0q\"1;1;\(size.width);\(size.height)".utf8
            for (index, color) in colors.enumerated() where index != clear {
                let shares = [color.red, color.green, color.blue].map { (Int($0) * 100 + 127) / 255 }
                bytes += "#\(index);2;\(shares[0]);\(shares[1]);\(shares[2])".utf8
            }
        }

        mutating func append(_ band: ArraySlice<UInt8>, clear: Int?) {
            if bandCount > 0 { bytes.append(UInt8(ascii: "-")) }
            bandCount += 1
            var (column, bit): (Int, UInt8) = (0, 1)
            for index in band {
                let color = Int(index)
                if color != clear {
                    if !isUsed[color] {
                        isUsed[color] = true
                        used.append(color)
                    }
                    sixels[color * width + column] |= bit
                }
                column += 1
                if column == width { (column, bit) = (0, bit << 1) }
            }
            for (place, color) in used.enumerated() {
                // Back to the band's start for the next colour.
                if place > 0 { bytes.append(UInt8(ascii: "$")) }
                bytes += "#\(color)".utf8
                appendRow(color * width..<(color + 1) * width)
                isUsed[color] = false
            }
            used = []
        }

        var finished: [UInt8] { bytes + ControlSequence.stringEnd }

        /// Appends the sixels of one colour in runs, without the empty ones at the end, and clears them.
        private mutating func appendRow(_ range: Range<Int>) {
            let end = (sixels[range].lastIndex { $0 != 0 } ?? range.lowerBound) + 1
            var start = range.lowerBound
            while start < end {
                let value = sixels[start]
                var next = start
                while next < end, sixels[next] == value {
                    sixels[next] = 0
                    next += 1
                }
                appendRun(value + 63, count: next - start)
                start = next
            }
        }

        private mutating func appendRun(_ character: UInt8, count: Int) {
            if count > 3 {
                bytes += "!\(count)".utf8
                bytes.append(character)
            } else {
                for _ in 0..<count { bytes.append(character) }
            }
        }
    }
}
