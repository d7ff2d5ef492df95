#if AVIF
    import CAVIF
    import CHalcyonCodecs
    import Foundation
    import HalcyonImage
    import HalcyonSystem

    /// A coder for AVIF still images by libavif: 8, 10 and 12 bits, every chroma subsampling, grids and alpha. It
    /// decodes the first frame of a sequence.
    ///
    /// A decode works at the stored size, in one step that cannot be cancelled. A clean aperture (`clap`) is not
    /// applied.
    package struct AVIFCoder: ImageDecoder {
        package init() {}

        package var formats: [ImageFormat] { [.avif] }

        package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .avif) }

        package func probe(_ data: Data) throws -> ImageInfo {
            try data.withUnsafeBytes { bytes in
                try ISOImageHeader(ByteReader(bytes)).check()
                try ISOItems(ByteReader(bytes), format: .avif).check()
                return try AVIFFile.read(bytes) { $0.info }
            }
        }

        package func metadataByteCount(_ data: Data) -> Int {
            data.read { ISOImageHeader($0).profileByteCount }
        }

        package func colorProfile(of data: Data) -> ColorProfile? {
            data.withUnsafeBytes { bytes in try? AVIFFile.read(bytes) { $0.colorProfile } }
        }

        package func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent {
            data.read { try? ISOItems($0, format: .avif).extent(of: info) } ?? CodedExtent(info)
        }

        /// The memory of the decoder's planes at up to 16 bits, including one for alpha, and of a reference frame's
        /// planes.
        package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
            let decoded = data.read { try? ISOItems($0, format: .avif).decodedBytes(of: nativeSize) }
            let planes = (info.hasAlpha ? 4 : 3) * (info.bitsPerChannel > 8 ? 2 : 1) * 2
            return 0.adding(planes, times: (decoded ?? nativeSize.bitmapBytes) / 4)
        }

        package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
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
            // The coded picture may differ in size from the one that the container declares.
            guard Int(image.pointee.width) == size.width, Int(image.pointee.height) == size.height else {
                throw CodecError.damaged(.avif, reason: "the decoded size differs from the header")
            }
            var rgb = avifRGBImage()
            avifRGBImageSetDefaults(&rgb, image)
            rgb.depth = 8
            rgb.format = AVIF_RGB_FORMAT_BGRA
            // libavif premultiplies alpha with errors of one level. Rounding to the nearest here lets a losslessly
            // encoded image come back without loss. Pixels that the file stores premultiplied stay as they are.
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
