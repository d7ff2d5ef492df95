#if PNG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// PNG by libpng: every colour type and depth, interlaced or not, and APNG.
    ///
    /// Decodes straight into the bitmap at the stored size; 16-bit channels are rounded to 8.
    public struct PNGCoder: ImageDecoder, ImageEncoder {
        public init() {}

        public var formats: [ImageFormat] { [.png] }

        public func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .png) }

        public func probe(_ data: Data) throws -> ImageInfo { try data.read { try PNGHeader.info($0) } }

        public func metadataByteCount(_ data: Data) -> Int { data.read { PNGHeader.metadataByteCount($0) } }

        /// Of an APNG the first frame: its default image may be no frame, and says then that the program at hand shows
        /// no animations.
        public func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            if plan.info.isAnimated, let frames = APNGFrames(data, info: plan.info), !frames.beginsWithDefaultImage {
                var compositor = FrameCompositor(
                    APNGFrameReader(data: data, frames: frames, info: plan.info), size: plan.storedSize)
                return try compositor.canvas(at: 0, context: context)
            }
            return try Self.decodeImage(data, size: plan.nativeSize, isOpaque: !plan.info.hasAlpha, context: context)
        }

        static func decodeImage(_ data: Data, size: PixelSize, isOpaque: Bool, context: WorkContext) throws -> Bitmap {
            try CodecCall.decode(.png, size: size, isOpaque: isOpaque, context: context) { bitmap, call in
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
            try Self.encode(image.bitmap, keepsAlpha: false, context: context)
        }

        static func encode(_ bitmap: Bitmap, keepsAlpha: Bool, context: WorkContext) throws -> Data {
            try CodecCall.encode(bitmap, as: .png, context: context) { bitmap, output, call in
                halcyon_png_encode(bitmap, keepsAlpha, output, call)
            }
        }
    }
#endif
