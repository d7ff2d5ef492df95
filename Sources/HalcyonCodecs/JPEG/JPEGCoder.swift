#if JPEG
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// JPEG by libjpeg-turbo: baseline and progressive, grey, colour and CMYK.
    ///
    /// Decodes straight into the bitmap, at any eighth of the stored size. CMYK becomes sRGB by plain multiplication,
    /// without its profile.
    public struct JPEGCoder: ImageDecoder {
        public init() {}

        public var formats: [ImageFormat] { [.jpeg] }

        public func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .jpeg) }

        public func probe(_ data: Data) throws -> ImageInfo { try data.read { try JPEGHeader($0).info } }

        public func metadataByteCount(_ data: Data) -> Int {
            data.read { try? JPEGHeader($0).metadataByteCount } ?? 0
        }

        public func scaledSize(for info: ImageInfo, atLeast size: PixelSize) -> PixelSize {
            let stored = info.storedSize
            let fitting = (1...8).lazy.map { Self.scaled(stored, eighths: $0) }
                .first { $0.width >= size.width && $0.height >= size.height }
            return fitting ?? stored
        }

        public func coverage(of info: ImageInfo, at native: PixelSize) -> (width: Double, height: Double) {
            let stored = info.storedSize
            let eighths = Double(Self.eighths(of: stored, for: native) ?? 8)
            return (Double(stored.width) * eighths / 8, Double(stored.height) * eighths / 8)
        }

        public func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            guard let eighths = Self.eighths(of: plan.storedSize, for: plan.nativeSize) else {
                throw CodecError.damaged(.jpeg, reason: "\(plan.nativeSize) is no size that it decodes to")
            }
            let stored = plan.storedSize
            return try CodecCall.decode(.jpeg, size: plan.nativeSize, isOpaque: true, context: context) {
                bitmap, call in
                data.withUnsafeBytes { bytes in
                    halcyon_jpeg_decode(
                        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
                        Int32(clamping: stored.width), Int32(clamping: stored.height), Int32(eighths), bitmap, call)
                }
            }
        }

        /// What libjpeg makes of a size: every side rounded up.
        private static func scaled(_ size: PixelSize, eighths: Int) -> PixelSize {
            PixelSize((size.width * eighths + 7) / 8, (size.height * eighths + 7) / 8)
        }

        /// The eighths that give `native`. Of a few pixels several do, and the most keep the most.
        static func eighths(of stored: PixelSize, for native: PixelSize) -> Int? {
            (1...8).last { scaled(stored, eighths: $0) == native }
        }
    }
#endif
