import Halcyon
import HalcyonProcessing

/// A bitmap with operations that draw rectangles, images and text.
struct Canvas {
    /// An opaque colour.
    struct Color {
        let blue: UInt8
        let green: UInt8
        let red: UInt8

        /// An opaque colour from `0xRRGGBB`.
        init(_ rgb: UInt32) {
            red = UInt8(truncatingIfNeeded: rgb >> 16)
            green = UInt8(truncatingIfNeeded: rgb >> 8)
            blue = UInt8(truncatingIfNeeded: rgb)
        }
    }

    let size: PixelSize
    private var pixels: [UInt8]

    init(size: PixelSize, background: Color) {
        self.size = size
        let pixel = [background.blue, background.green, background.red, 255]
        pixels = Array(unsafeUninitializedCapacity: size.width * size.height * 4) { buffer, count in
            for index in 0..<size.width * size.height * 4 { buffer[index] = pixel[index & 3] }
            count = buffer.count
        }
    }

    /// Returns the picture so far.
    func bitmap() throws -> Bitmap {
        try Bitmap(size: size, isOpaque: true, pixels: pixels)
    }

    mutating func fill(_ rect: PixelRect, _ color: Color) {
        guard let rect = rect.clamped(to: size) else { return }
        for y in rect.y..<rect.y + rect.size.height {
            for x in rect.x..<rect.x + rect.size.width { set(x, y, color) }
        }
    }

    /// Draws an image over the present pixels by its alpha. The part outside of the canvas is ignored.
    mutating func draw(_ bitmap: Bitmap, x: Int, y: Int) {
        guard let rect = PixelRect(x: x, y: y, width: bitmap.width, height: bitmap.height).clamped(to: size) else {
            return
        }
        bitmap.withPixels { source in
            for row in rect.y..<rect.y + rect.size.height {
                var from = ((row - y) * bitmap.width + (rect.x - x)) * 4
                var to = (row * size.width + rect.x) * 4
                for _ in 0..<rect.size.width {
                    let rest = 255 - Int(source[from + 3])
                    for channel in 0..<4 {
                        pixels[to + channel] =
                            source[from + channel] &+ UInt8((Int(pixels[to + channel]) * rest + 127) / 255)
                    }
                    from += 4
                    to += 4
                }
            }
        }
    }

    /// Draws a line of text with its top left corner at a position, each font pixel as a square of `scale` pixels.
    mutating func write(_ text: String, x: Int, y: Int, color: Color, scale: Int = 1) {
        var pen = x
        for character in text {
            let glyph = PixelFont.glyph(for: character)
            for (row, bits) in glyph.rows.enumerated() {
                for column in 0..<glyph.width where bits >> UInt32(column) & 1 == 1 {
                    fill(
                        PixelRect(x: pen + column * scale, y: y + row * scale, width: scale, height: scale), color)
                }
            }
            pen += glyph.width * scale
        }
    }

    private mutating func set(_ x: Int, _ y: Int, _ color: Color) {
        let offset = (y * size.width + x) * 4
        pixels[offset] = color.blue
        pixels[offset + 1] = color.green
        pixels[offset + 2] = color.red
        pixels[offset + 3] = 255
    }
}
