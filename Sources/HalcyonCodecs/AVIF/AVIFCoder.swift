#if AVIF
    import CAVIF
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// AVIF stills by libavif: 8, 10 and 12 bits, every chroma sampling, grids, alpha; of a sequence the first frame.
    ///
    /// Decodes at the stored size, in one step that cannot be cancelled. A clean aperture is not cut out.
    public struct AVIFCoder: ImageDecoder {
        public init() {}

        public var formats: [ImageFormat] { [.avif] }

        public func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .avif) }

        public func probe(_ data: Data) throws -> ImageInfo {
            try data.withUnsafeBytes { bytes in
                try ISOImageHeader(ByteReader(bytes)).check()
                try ISOItems(ByteReader(bytes), format: .avif).check()
                return try AVIFFile.read(bytes) { $0.info }
            }
        }

        public func metadataByteCount(_ data: Data) -> Int {
            data.read { ISOImageHeader($0).profileByteCount }
        }

        public func colorProfile(of data: Data) -> ColorProfile? {
            data.withUnsafeBytes { bytes in try? AVIFFile.read(bytes) { $0.colorProfile } }
        }

        public func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent {
            data.read { try? ISOItems($0, format: .avif).extent(of: info) } ?? CodedExtent(info)
        }

        /// The decoder's planes at up to 16 bits, with one for alpha, and those of a reference frame.
        public func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
            let decoded = data.read { try? ISOItems($0, format: .avif).decodedBytes(of: nativeSize) }
            let planes = (info.hasAlpha ? 4 : 3) * (info.bitsPerChannel > 8 ? 2 : 1) * 2
            return 0.adding(planes, times: (decoded ?? nativeSize.bitmapBytes) / 4)
        }

        public func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try data.withUnsafeBytes { bytes in
                guard !ISOImageHeader(ByteReader(bytes)).isCut else {
                    throw CodecError.damaged(.avif, reason: "the file was cut off")
                }
                return try AVIFFile.read(bytes, size: plan.storedSize) { file in
                    try AVIFFile.check(avifDecoderNthImage(file.decoder, 0))
                    try context.checkCancellation()
                    return try Self.bitmap(of: file.image, plan: plan)
                }
            }
        }

        private static func bitmap(of image: UnsafeMutablePointer<avifImage>, plan: DecodePlan) throws -> Bitmap {
            let size = plan.nativeSize
            // What was coded may have another size than the container declared.
            guard Int(image.pointee.width) == size.width, Int(image.pointee.height) == size.height else {
                throw CodecError.damaged(.avif, reason: "it has another size than its header says")
            }
            var rgb = avifRGBImage()
            avifRGBImageSetDefaults(&rgb, image)
            rgb.depth = 8
            rgb.format = AVIF_RGB_FORMAT_BGRA
            // libavif multiplies by alpha with errors of one level; we do it to the nearest, so that what was encoded
            // without loss comes back without loss. What is multiplied in the file stays as it is.
            let isMultiplied = image.pointee.alphaPremultiplied != 0
            rgb.alphaPremultiplied = image.pointee.alphaPremultiplied
            let hasAlpha = plan.info.hasAlpha && image.pointee.alphaPlane != nil
            return try Bitmap(size: size, isOpaque: !hasAlpha) { pixels in
                let start = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
                rgb.pixels = start
                rgb.rowBytes = UInt32(size.width * 4)
                try AVIFFile.check(avifImageYUVToRGB(image, &rgb))
                if !hasAlpha {
                    halcyon_make_opaque(start, size.width * size.height)
                } else if !isMultiplied {
                    halcyon_premultiply(start, size.width * size.height)
                }
            }
        }
    }
#endif
