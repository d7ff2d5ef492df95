import Halcyon
import ImageURLs

/// Corners that are cut to quarters of an ellipse, with smooth edges.
struct EllipticCorners: ImageProcessor {
    /// Radii in pixels; at most half of the side is used.
    let x: Int
    let y: Int
    /// The colour in the corners, as opaque as the picture is there; nil for none.
    let color: ImageJob.Color?

    /// Samples of a pixel on each axis.
    private static let samples = 4

    func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.server.corners", version: 2)
        for value in [x, y] { key.encode(value) }
        key.encode(color.map { Int($0.red) << 16 | Int($0.green) << 8 | Int($0.blue) } ?? -1)
    }

    func process(_ image: Image, context: WorkContext) throws -> Image {
        let bitmap = image.bitmap
        let (wide, high) = (min(x, bitmap.width / 2), min(y, bitmap.height / 2))
        guard wide > 0, high > 0 else { return image }
        let coverage = Self.coverage(wide, high)
        let ground = color.map { [Int($0.blue), Int($0.green), Int($0.red), 255] } ?? [0, 0, 0, 0]
        let width = bitmap.width * 4
        let result = try Bitmap(size: image.size, isOpaque: bitmap.isOpaque && color != nil) { output in
            bitmap.withPixels { pixels in
                for row in 0..<bitmap.height {
                    UnsafeMutableRawBufferPointer(rebasing: output[row * width..<(row + 1) * width]).copyMemory(
                        from: UnsafeRawBufferPointer(
                            rebasing: pixels[row * bitmap.bytesPerRow..<row * bitmap.bytesPerRow + width]))
                }
            }
            for row in 0..<high {
                for column in 0..<wide {
                    let share = Int(coverage[row * wide + column])
                    for top in [row, bitmap.height - 1 - row] {
                        for left in [column, bitmap.width - 1 - column] where share < 255 {
                            Self.blend(output, top * width + left * 4, share, ground)
                        }
                    }
                }
            }
        }
        return image.replacing(result)
    }

    /// Reduces a pixel to a share of 255, with the ground in the rest, as opaque as the pixel was.
    private static func blend(
        _ pixels: UnsafeMutableRawBufferPointer, _ place: Int, _ share: Int, _ ground: [Int]
    ) {
        let alpha = Int(pixels[place + 3])
        for channel in 0..<4 {
            let rest = (ground[channel] * alpha + 127) / 255
            pixels[place + channel] = UInt8((Int(pixels[place + channel]) * share + rest * (255 - share) + 127) / 255)
        }
    }

    /// Returns the shares, of 255, of the pixels of the top left corner that are inside of the ellipse.
    private static func coverage(_ wide: Int, _ high: Int) -> [UInt8] {
        var shares: [UInt8] = []
        shares.reserveCapacity(wide * high)
        for row in 0..<high {
            for column in 0..<wide {
                var inside = 0
                for sample in 0..<samples * samples {
                    let dx = Double(column) + (Double(sample % samples) + 0.5) / Double(samples) - Double(wide)
                    let dy = Double(row) + (Double(sample / samples) + 0.5) / Double(samples) - Double(high)
                    let (a, b) = (dx / Double(wide), dy / Double(high))
                    if a * a + b * b <= 1 { inside += 1 }
                }
                shares.append(UInt8(inside * 255 / (samples * samples)))
            }
        }
        return shares
    }
}
