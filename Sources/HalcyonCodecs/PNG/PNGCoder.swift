#if PNG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// PNG by libpng: every colour type and depth, interlaced or not; of an APNG the default image.
    ///
    /// Decodes straight into the bitmap at the stored size; 16-bit channels are rounded to 8.
    public struct PNGCoder: ImageDecoder, ImageEncoder {
        public init() {}

        public var formats: [ImageFormat] { [.png] }

        public func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .png) }

        public func probe(_ data: Data) throws -> ImageInfo { try data.read { try PNGHeader.info($0) } }

        public func metadataByteCount(_ data: Data) -> Int { data.read { PNGHeader.metadataByteCount($0) } }

        public func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try CodecCall.decode(
                .png, size: plan.nativeSize, isOpaque: !plan.info.hasAlpha, context: context
            ) { bitmap, call in
                data.withUnsafeBytes { bytes in
                    halcyon_png_decode(
                        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, bitmap, call)
                }
            }
        }

        /// Writes 8-bit RGB where every pixel is opaque, else RGBA, at zlib's level 4.
        public func encode(
            _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
        ) throws -> Data {
            try CodecCall.encode(image.bitmap, as: .png, context: context) { bitmap, output, call in
                halcyon_png_encode(bitmap, output, call)
            }
        }
    }
#endif
