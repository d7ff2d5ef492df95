import Halcyon
import ImageURLs

/// The search for the border of one colour that a job removes.
enum BorderTrim {
    /// Returns the part of a picture without its border; nil if nothing is removed, or nothing would be left.
    ///
    /// A pixel belongs to the border if it is as near to the border's colour as the tolerance says. By channels transparent ones count as
    /// magenta, and half transparent ones as lying on it; a distance is that of red, green, blue and alpha, and transparent pixels are
    /// black. Cost: a look at each pixel.
    static func part(of bitmap: Bitmap, _ trim: ImageJob.Trim) -> PixelRect? {
        let (width, height) = (bitmap.width, bitmap.height)
        let pixel = trim.tolerance.reading
        let border = color(of: trim.border, in: bitmap, pixel)
        var (left, right, top, bottom) = (width, -1, height, -1)
        bitmap.withPixels { pixels in
            for y in 0..<height {
                let row = y * bitmap.bytesPerRow
                func differs(_ x: Int) -> Bool { trim.tolerance.separates(pixel(pixels, row + x * 4), border) }
                guard let first = (0..<width).first(where: differs) else { continue }
                // Within what is known to stay, no pixel is looked at.
                let last = stride(from: width - 1, through: max(right, first), by: -1).first(where: differs)
                (left, right) = (min(left, first), max(right, last ?? first))
                (top, bottom) = (min(top, y), y)
            }
        }
        guard right >= 0 else { return nil }
        if case .channel(let limit) = trim.tolerance {
            let found = PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
            guard let part = MedianBorder(bitmap, border, limit: limit).part(within: found) else { return nil }
            (left, top, right, bottom) = (part.x, part.y, part.x + part.size.width - 1, part.y + part.size.height - 1)
        }
        if trim.equalHorizontally {
            let removed = min(left, width - 1 - right)
            (left, right) = (removed, width - 1 - removed)
        }
        if trim.equalVertically {
            let removed = min(top, height - 1 - bottom)
            (top, bottom) = (removed, height - 1 - removed)
        }
        let part = PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
        return part.size == bitmap.size ? nil : part
    }

    private static func color(
        of border: ImageJob.Trim.Border, in bitmap: Bitmap, _ pixel: (UnsafeRawBufferPointer, Int) -> Pixel
    ) -> Pixel {
        switch border {
        case .topLeft: bitmap.withPixels { pixel($0, 0) }
        case .bottomRight:
            bitmap.withPixels { pixel($0, (bitmap.height - 1) * bitmap.bytesPerRow + (bitmap.width - 1) * 4) }
        case .color(let color): Pixel(red: Int(color.red), green: Int(color.green), blue: Int(color.blue))
        }
    }

    struct Pixel {
        let red: Int
        let green: Int
        let blue: Int
        let alpha: Int

        init(red: Int, green: Int, blue: Int) {
            (self.red, self.green, self.blue, alpha) = (red, green, blue, 255)
        }

        /// Reads a pixel of blue, green, red and alpha, multiplied with alpha, as it was before that.
        init(withAlphaIn pixels: UnsafeRawBufferPointer, _ offset: Int) {
            let alpha = Int(pixels[offset + 3])
            func channel(_ index: Int) -> Int {
                let value = Int(pixels[offset + index])
                return alpha == 255 ? value : alpha == 0 ? 0 : min(255, (value * 255 + alpha / 2) / alpha)
            }
            (blue, green, red, self.alpha) = (channel(0), channel(1), channel(2), alpha)
        }

        /// Reads such a pixel as lying on magenta.
        init(_ pixels: UnsafeRawBufferPointer, _ offset: Int) {
            let clear = 255 - Int(pixels[offset + 3])
            blue = min(255, Int(pixels[offset]) + clear)
            green = Int(pixels[offset + 1])
            red = min(255, Int(pixels[offset + 2]) + clear)
            alpha = 255
        }
    }
}

extension ImageJob.Trim.Tolerance {
    /// Returns a pixel as the tolerance looks at it.
    fileprivate var reading: (UnsafeRawBufferPointer, Int) -> BorderTrim.Pixel {
        switch self {
        case .channel: BorderTrim.Pixel.init(_:_:)
        case .distance: BorderTrim.Pixel.init(withAlphaIn:_:)
        }
    }

    /// Whether two colours are further from each other than the tolerance.
    fileprivate func separates(_ first: BorderTrim.Pixel, _ second: BorderTrim.Pixel) -> Bool {
        let (red, green, blue) = (first.red - second.red, first.green - second.green, first.blue - second.blue)
        switch self {
        case .channel(let limit): return Double(max(abs(red), abs(green), abs(blue))) > limit
        case .distance(let limit):
            let alpha = first.alpha - second.alpha
            return Double(red * red + green * green + blue * blue + alpha * alpha) > limit * limit
        }
    }
}
