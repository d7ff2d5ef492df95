#if JPEG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    extension JPEGCoder: ImageEncoder {
        public func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { true }

        public func writesMetadata(_ format: ImageFormat) -> Bool { true }

        /// Writes 4:2:0 with optimised Huffman tables. Transparent pixels are composited onto the background.
        public func encode(
            _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
        ) throws -> Data {
            let quality = max(1, Int32((options.clampedQuality * 100).rounded()))
            let file = try CodecCall.encode(image.bitmap, as: .jpeg, context: context) { bitmap, output, call in
                halcyon_jpeg_encode(
                    bitmap, image.bitmap.isOpaque, UInt32(options.background.packed), quality, options.isProgressive,
                    output, call)
            }
            return try JPEGMetadata.insert(options.storedOrientation(of: image), image.colorProfile, into: file)
        }
    }
#endif
