import Halcyon

/// The surface that transparent pixels are laid over.
struct Backdrop: Sendable, Hashable {
    /// The look of the surface.
    enum Surface: Sendable, Hashable {
        case color(Color)
        /// Squares of two greys, of a side in pixels.
        case chequer(side: Int)
    }

    var surface: Surface
    /// Whether pixels without any alpha stay clear, for protocols that leave them out.
    var keepsClear: Bool

    /// Returns the bitmap over the surface; the bitmap itself if it is opaque.
    func flattened(_ bitmap: Bitmap) throws -> Bitmap {
        guard !bitmap.isOpaque else { return bitmap }
        let (width, surface) = (bitmap.width, Painted(surface))
        return try bitmap.withPixels { source in
            try Bitmap(size: bitmap.size, isOpaque: !keepsClear) { result in
                for pixel in 0..<source.count / 4 {
                    let (place, alpha) = (pixel * 4, source[pixel * 4 + 3])
                    if alpha == 0, keepsClear {
                        for channel in 0..<4 { result[place + channel] = 0 }
                        continue
                    }
                    let below = surface.color(x: pixel % width, y: pixel / width)
                    for channel in 0..<3 {
                        let rest = (Int(below[channel]) * (255 - Int(alpha)) + 127) / 255
                        result[place + channel] = UInt8(min(255, Int(source[place + channel]) + rest))
                    }
                    result[place + 3] = 255
                }
            }
        }
    }

    /// The surface's colours as bytes: blue, green, red.
    private struct Painted {
        let first: [UInt8]
        let second: [UInt8]
        let side: Int

        init(_ surface: Surface) {
            switch surface {
            case .color(let color):
                first = [color.blue, color.green, color.red].map { UInt8((min(max($0, 0), 1) * 255).rounded()) }
                second = first
                side = 1
            case .chequer(let length):
                first = [0x66, 0x66, 0x66]
                second = [0x99, 0x99, 0x99]
                side = max(1, length)
            }
        }

        func color(x: Int, y: Int) -> [UInt8] { (x / side + y / side) % 2 == 0 ? first : second }
    }
}
