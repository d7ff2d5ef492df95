import Halcyon

/// Pictures as text: a cell shows two pixels, one above the other, as the colours of a half block and of its background.
enum BlockEncoder {
    /// Returns a line for every two rows of pixels, without line breaks. Each line ends in plain colours.
    ///
    /// Pixels whose alpha is 0 show the terminal's own background; all others are drawn in the colour that they hold, so a
    /// bitmap is laid over its background before.
    ///
    /// - Parameter inEveryColor: False for terminals that know only the 256 colours of xterm's palette.
    static func lines(_ bitmap: Bitmap, inEveryColor: Bool = true) -> [[UInt8]] {
        let color = inEveryColor ? TextColor.full : TextColor.nearest
        return bitmap.withPixels { bytes in
            stride(from: 0, to: bitmap.height, by: 2).map { y in
                var line = Line(color: color)
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
        /// Makes the parameters of a sequence that name a colour.
        let color: (UInt32) -> String
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
            bytes += ControlSequence.bytes("\u{1B}[38;\(self.color(color))m")
            ink = color
        }

        private mutating func set(paper color: UInt32?) {
            guard color != paper else { return }
            bytes += ControlSequence.bytes(color.map { "\u{1B}[48;\(self.color($0))m" } ?? "\u{1B}[49m")
            paper = color
        }

        init(color: @escaping (UInt32) -> String) {
            self.color = color
        }
    }
}

/// Colours of text as the parameters of a control sequence.
enum TextColor {
    /// Returns the parameters of a colour `0xRRGGBB`.
    static func full(_ color: UInt32) -> String {
        "2;\(color >> 16 & 255);\(color >> 8 & 255);\(color & 255)"
    }

    /// Returns the parameters of the nearest colour of xterm's palette: a cube of six shades a side, and 24 greys. The 16 before
    /// them have other colours in each terminal.
    static func nearest(_ color: UInt32) -> String {
        let channels = [16, 8, 0].map { Int(color >> $0 & 255) }
        let steps = channels.map { $0 < 48 ? 0 : $0 < 115 ? 1 : ($0 - 35) / 40 }
        let grey = min(max((channels.reduce(0, +) / 3 - 3) / 10, 0), 23)
        func distance(_ other: [Int]) -> Int {
            zip(channels, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
        }
        let isGrey =
            distance(Array(repeating: 8 + 10 * grey, count: 3)) < distance(steps.map { $0 == 0 ? 0 : 55 + 40 * $0 })
        return "5;\(isGrey ? 232 + grey : 16 + 36 * steps[0] + 6 * steps[1] + steps[2])"
    }
}
