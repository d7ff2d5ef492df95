import Foundation
import Halcyon

/// Makes pictures that are as hard for a codec as a photograph: smooth shading with noise, the same in every run.
enum NoiseImage {
    /// Draws a picture. Different seeds give different pictures.
    static func make(_ size: PixelSize, seed: UInt64, isOpaque: Bool = true) throws -> Image {
        let bitmap = try Bitmap(size: size, isOpaque: isOpaque) { bytes in
            var noise = Noise(state: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
            let waves = (0..<4).map { Double($0 + 1) + Double(noise.next() & 255) / 64 }
            let columns = (0..<size.width).map { x in sin(Double(x) / Double(size.width) * waves[0] * 3) * 50 }
            for y in 0..<size.height {
                let height = Double(y) / Double(size.height)
                let tint = (
                    blue: Int(cos(height * waves[1] * 3) * 50), green: Int(sin(height * waves[2] * 3) * 50),
                    red: Int(cos(height * waves[3] * 3) * 50)
                )
                // Alpha runs from opaque at the top to clear at the bottom; noise must stay below it.
                let alpha = isOpaque ? 255 : 255 - 255 * y / size.height
                for x in 0..<size.width {
                    let grain = noise.grain()
                    let base = 128 + Int(columns[x]) + grain
                    let offset = (y * size.width + x) * 4
                    bytes[offset] = premultiplied(base + tint.blue, alpha)
                    bytes[offset + 1] = premultiplied(base + tint.green, alpha)
                    bytes[offset + 2] = premultiplied(base + tint.red, alpha)
                    bytes[offset + 3] = UInt8(alpha)
                }
            }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .jpeg, size: size, hasAlpha: !isOpaque))
    }

    private static func premultiplied(_ value: Int, _ alpha: Int) -> UInt8 {
        UInt8(min(max(value, 0), 255) * alpha / 255)
    }

    /// A xorshift64* generator.
    private struct Noise {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state >> 12
            state ^= state << 25
            state ^= state >> 27
            return (state &* 0x2545_F491_4F6C_DD1D) >> 32
        }

        /// Returns the sum of four small numbers: nearly normal, from -14 to 14.
        mutating func grain() -> Int {
            let bits = next()
            return Int(bits & 7) + Int(bits >> 3 & 7) + Int(bits >> 6 & 7) + Int(bits >> 9 & 7) - 14
        }
    }
}
