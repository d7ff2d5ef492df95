import Halcyon

/// The border of a picture without its specks: each pixel counts as the median of its three by three neighbours, channel by channel,
/// as in libvips' `find_trim`. Edges continue outwards.
struct MedianBorder {
    private let bitmap: Bitmap
    private let border: BorderTrim.Pixel
    private let limit: Double

    init(_ bitmap: Bitmap, _ border: BorderTrim.Pixel, limit: Double) {
        (self.bitmap, self.border, self.limit) = (bitmap, border, limit)
    }

    /// Returns the part that is not border, within a part that holds all pixels that differ by themselves; nil if all of it is.
    ///
    /// Cost: nine looks at each pixel of the rows and columns that go.
    func part(within found: PixelRect) -> PixelRect? {
        var (left, top) = (found.x, found.y)
        var (right, bottom) = (found.x + found.size.width - 1, found.y + found.size.height - 1)
        return bitmap.withPixels { pixels in
            func isBorder(row y: Int) -> Bool { !(left...right).contains { differs(pixels, $0, y) } }
            func isBorder(column x: Int) -> Bool { !(top...bottom).contains { differs(pixels, x, $0) } }
            while isBorder(row: top) {
                guard top < bottom else { return nil }
                top += 1
            }
            while isBorder(row: bottom) { bottom -= 1 }
            while isBorder(column: left) { left += 1 }
            while isBorder(column: right) { right -= 1 }
            return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
        }
    }

    /// Whether the median of a channel is further from the border's colour than the limit: five of nine have to be.
    private func differs(_ pixels: UnsafeRawBufferPointer, _ x: Int, _ y: Int) -> Bool {
        var (above, below) = ((0, 0, 0), (0, 0, 0))
        for dy in -1...1 {
            let row = min(max(y + dy, 0), bitmap.height - 1) * bitmap.bytesPerRow
            for dx in -1...1 {
                let pixel = BorderTrim.Pixel(pixels, row + min(max(x + dx, 0), bitmap.width - 1) * 4)
                let (red, green, blue) = (
                    Double(pixel.red - border.red), Double(pixel.green - border.green), Double(pixel.blue - border.blue)
                )
                if red > limit { above.0 += 1 } else if red < -limit { below.0 += 1 }
                if green > limit { above.1 += 1 } else if green < -limit { below.1 += 1 }
                if blue > limit { above.2 += 1 } else if blue < -limit { below.2 += 1 }
            }
        }
        return max(above.0, above.1, above.2, below.0, below.1, below.2) >= 5
    }
}
