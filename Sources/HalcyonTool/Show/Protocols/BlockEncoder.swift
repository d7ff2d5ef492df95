import Halcyon

/// Pictures as text: a cell shows two pixels, one above the other, as the colours of a half block and of its background.
enum BlockEncoder {
    /// Returns a line for every two rows of pixels, without line breaks. Each line ends in plain colours.
    ///
    /// Pixels whose alpha is 0 show the terminal's own background; all others are drawn in the colour that they hold, so a
    /// bitmap is laid over its background before.
    static func lines(_ bitmap: Bitmap) -> [[UInt8]] {
        bitmap.withPixels { bytes in
            stride(from: 0, to: bitmap.height, by: 2).map { y in
                var line = Line()
                for x in 0..<bitmap.width {
                    let below = y + 1 < bitmap.height ? pixel(bytes, (y + 1) * bitmap.width + x) : nil
                    line.append(upper: pixel(bytes, y * bitmap.width + x), lower: below)
                }
                return line.finished
            }
        }
    }

    /// The colour of a pixel as `0xRRGGBB`; nil for a clear one.
    private static func pixel(_ bytes: UnsafeRawBufferPointer, _ index: Int) -> UInt32? {
        let place = index * 4
        guard bytes[place + 3] > 0 else { return nil }
        return UInt32(bytes[place + 2]) << 16 | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place])
    }

    /// A line of cells, which names a colour only where it changes.
    private struct Line {
        private var bytes: [UInt8] = []
        /// The colours that the terminal draws with; nil for its own.
        private var (ink, paper): (UInt32?, UInt32?) = (nil, nil)

        mutating func append(upper: UInt32?, lower: UInt32?) {
            switch (upper, lower) {
            case (let upper, let lower) where upper == lower:
                set(paper: upper)
                bytes.append(0x20)
            case (let upper?, let lower):
                set(ink: upper)
                set(paper: lower)
                bytes += "▀".utf8
            case (nil, let lower):
                set(ink: lower)
                set(paper: nil)
                bytes += "▄".utf8
            }
        }

        var finished: [UInt8] { ink == nil && paper == nil ? bytes : bytes + ControlSequence.plain }

        private mutating func set(ink color: UInt32?) {
            guard color != ink, let color else { return }
            bytes += Self.sequence(38, color)
            ink = color
        }

        private mutating func set(paper color: UInt32?) {
            guard color != paper else { return }
            bytes += color.map { Self.sequence(48, $0) } ?? ControlSequence.bytes("\u{1B}[49m")
            paper = color
        }

        private static func sequence(_ kind: Int, _ color: UInt32) -> [UInt8] {
            ControlSequence.bytes("\u{1B}[\(kind);2;\(color >> 16 & 255);\(color >> 8 & 255);\(color & 255)m")
        }
    }
}
