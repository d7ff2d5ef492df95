import CHalcyonCodecs
import HalcyonImage

extension Bitmap {
    /// Whether every pixel is opaque, also where `isOpaque` does not promise it. Costs a look at each.
    package var hasOpaquePixelsOnly: Bool {
        isOpaque
            || withPixels { pixels in
                pixels.baseAddress.map {
                    halcyon_is_opaque($0.assumingMemoryBound(to: UInt8.self), pixels.count / 4)
                } ?? true
            }
    }
}
