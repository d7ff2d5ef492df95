import CXXHash
import HalcyonImage

/// The XXH3-128 hash of a bitmap's pixels.
struct PixelDigest: Hashable, Sendable {
    private let low: UInt64
    private let high: UInt64

    /// Hashes the pixels. Cost: linear in the bytes, at the speed of memory.
    init(_ bitmap: Bitmap) {
        let hash = bitmap.withPixels { XXH3_128bits($0.baseAddress, $0.count) }
        (low, high) = (hash.low64, hash.high64)
    }

    func encode(into key: inout KeyEncoder) {
        key.encode(Int(bitPattern: UInt(low)))
        key.encode(Int(bitPattern: UInt(high)))
    }
}
