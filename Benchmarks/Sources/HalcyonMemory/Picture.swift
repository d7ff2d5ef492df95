import Foundation
import Halcyon

/// Makes a picture with detail for every codec, the same in every run: slopes, rings, and a little grain.
enum Picture {
    static func make(_ size: PixelSize, hasAlpha: Bool = false, shift: Int = 0) throws -> Image {
        let bitmap = try Bitmap(size: size, isOpaque: !hasAlpha) { bytes in
            var grain: UInt32 = 12345
            for y in 0..<size.height {
                let alpha = hasAlpha ? 255 - 200 * y / size.height : 255
                for x in 0..<size.width {
                    grain = grain &* 1_664_525 &+ 1_013_904_223
                    let noise = Int(grain >> 30)
                    let offset = (y * size.width + x) * 4
                    let values = [
                        (x / 8 + shift) & 255, (y / 8) & 255, ((x / 16 &* y / 16) / 64) & 127, 255,
                    ]
                    for channel in 0..<3 {
                        bytes[offset + channel] = UInt8(min(255, values[channel] + noise) * alpha / 255)
                    }
                    bytes[offset + 3] = UInt8(alpha)
                }
            }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size, hasAlpha: hasAlpha))
    }
}
