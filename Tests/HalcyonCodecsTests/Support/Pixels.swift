import Foundation
import HalcyonImage

extension Bitmap {
    var bytes: [UInt8] { withPixels { [UInt8]($0) } }
}

/// The largest difference between two runs of bytes, nil where their counts differ.
func largestDifference(_ left: [UInt8], _ right: [UInt8]) -> Int? {
    guard left.count == right.count else { return nil }
    return zip(left, right).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
}

/// Peak signal to noise over all channels, in dB; infinite for equal bytes, 0 where the counts differ.
func signalToNoise(_ left: [UInt8], _ right: [UInt8]) -> Double {
    guard left.count == right.count, !left.isEmpty else { return 0 }
    let sum = zip(left, right).reduce(0.0) { sum, pair in
        let difference = Double(pair.0) - Double(pair.1)
        return sum + difference * difference
    }
    return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(left.count) / sum)
}

/// A picture with slopes, edges and texture, without chance.
func sampleBitmap(_ size: PixelSize, hasAlpha: Bool = false) throws -> Bitmap {
    try Bitmap(size: size, isOpaque: !hasAlpha) { pixels in
        for y in 0..<size.height {
            for x in 0..<size.width {
                let u = Double(x) / Double(size.width)
                let v = Double(y) / Double(size.height)
                let ring = sin(40 * ((u - 0.5) * (u - 0.5) + (v - 0.4) * (v - 0.4)))
                let block = (x / 24 + y / 16) % 5 == 0 ? 60.0 : 0
                let channels = [110 + 80 * ring, 40 + 150 * u + block, 200 - 140 * v]
                let alpha = hasAlpha ? min(255, max(0, 300 * v - 20)) : 255
                let offset = (y * size.width + x) * 4
                for (index, value) in channels.enumerated() {
                    pixels[offset + index] = UInt8((min(255, max(0, value)) * alpha.rounded() / 255).rounded())
                }
                pixels[offset + 3] = UInt8(alpha.rounded())
            }
        }
    }
}

func sampleImage(_ size: PixelSize, hasAlpha: Bool = false) throws -> Image {
    Image(bitmap: try sampleBitmap(size, hasAlpha: hasAlpha), info: ImageInfo(format: .png, size: size))
}

/// Chance that is the same in every run (SplitMix64).
struct FixedGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
