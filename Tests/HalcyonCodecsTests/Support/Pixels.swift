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
    var sum = 0
    for index in left.indices {
        let difference = Int(left[index]) - Int(right[index])
        sum += difference * difference
    }
    return sum == 0 ? .infinity : 10 * log10(255 * 255 * Double(left.count) / Double(sum))
}

/// A picture with slopes, edges and texture, without chance: one tile, repeated where the size is larger.
func sampleBitmap(_ size: PixelSize, hasAlpha: Bool = false) throws -> Bitmap {
    let tile = PixelSize(min(size.width, 240), min(size.height, 160))
    let rows = (0..<tile.height).map { sampleRow($0, of: tile, hasAlpha: hasAlpha) }
    return try Bitmap(size: size, isOpaque: !hasAlpha) { bytes in
        for y in 0..<size.height {
            for x in stride(from: 0, to: size.width, by: tile.width) {
                let count = min(tile.width, size.width - x) * 4
                let start = (y * size.width + x) * 4
                bytes[start..<start + count].copyBytes(from: rows[y % tile.height].prefix(count))
            }
        }
    }
}

private func sampleRow(_ y: Int, of size: PixelSize, hasAlpha: Bool) -> [UInt8] {
    let v = Double(y) / Double(size.height)
    let alpha = hasAlpha ? min(255, max(0, 300 * v - 20)).rounded() : 255
    return (0..<size.width).flatMap { x in
        let u = Double(x) / Double(size.width)
        let ring = sin(40 * ((u - 0.5) * (u - 0.5) + (v - 0.4) * (v - 0.4)))
        let block = (x / 24 + y / 16) % 5 == 0 ? 60.0 : 0
        let color = [110 + 80 * ring, 40 + 150 * u + block, 200 - 140 * v, 255]
        return color.map { UInt8((min(255, max(0, $0)) * alpha / 255).rounded()) }
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
