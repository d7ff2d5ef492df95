#if TIFF
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// TIFF and BigTIFF by libtiff: strips and tiles; grey, palette, RGB, CMYK (8 bits) and YCbCr; 1, 2, 4, 8 and 16
    /// bits a channel; whatever compression the system's libtiff knows. Writes none.
    ///
    /// The pages that are as large as the first one are frames, without a duration; other pages are left out.
    public struct TIFFCoder: AnimatedImageDecoder {
        public init() {}

        public var formats: [ImageFormat] { [.tiff] }

        public func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .tiff) }

        /// Many writers put the directory at the file's end, so that the first 64 KiB may not do.
        public func probe(_ data: Data) throws -> ImageInfo { try data.read { try TIFFHeader($0).info } }

        public func metadataByteCount(_ data: Data) -> Int {
            data.read { try? TIFFHeader($0).metadataByteCount } ?? 0
        }

        public func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try TIFFPages(data).pixels(at: 0, context: context)
        }

        public func frames(of data: Data, info: ImageInfo) throws -> any FrameReader { try TIFFPages(data) }
    }
#endif
