import CXXHash
import HalcyonImage

/// Names the pixels of a bitmap: the XXH3-128 of them.
struct PixelDigest: Hashable, Sendable {
    private let low: UInt64
    private let high: UInt64

    /// Cost: linear in the bytes, at memory's speed.
    init(_ bitmap: Bitmap) {
        let hash = bitmap.withPixels { XXH3_128bits($0.baseAddress, $0.count) }
        (low, high) = (hash.low64, hash.high64)
    }

    func encode(into key: inout KeyEncoder) {
        key.encode(Int(bitPattern: UInt(low)))
        key.encode(Int(bitPattern: UInt(high)))
    }
}
