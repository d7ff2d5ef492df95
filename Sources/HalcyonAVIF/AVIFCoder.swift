import CAVIF
import CHalcyonCodecs
import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder for AVIF by libavif, stills and sequences: 8, 10 and 12 bits, every chroma subsampling, grids and alpha.
///
/// A decode works at the stored size, in one step that cannot be cancelled. The picture is cropped to its clean
/// aperture (`clap`), and shown as a whole if that is invalid. Chrome does so only if the aperture begins in the corner.
/// Above 8 bits, colours are converted before they are rounded.
package struct AVIFCoder: ISOImageDecoder {
    package init() {}

    package var isoFormat: ImageFormat { .avif }

    package func probe(_ data: Data) throws -> ImageInfo {
        try data.withUnsafeBytes { bytes in
            try ISOImageHeader(ByteReader(bytes)).check()
            let items = try ISOItems(ByteReader(bytes), format: .avif)
            try items.check()
            var info = try AVIFFile.read(bytes) { $0.info }
            if info.isAnimated { info.loopCount = AVIFMovie(ByteReader(bytes)).loopCount }
            info.hasGainMap = items.hasGainMap
            return info
        }
    }

    package func colorProfile(of data: Data) -> ColorProfile? {
        data.withUnsafeBytes { bytes in try? AVIFFile.read(bytes) { $0.isDeep ? nil : $0.colorProfile } }
    }

    package func embeddedProfile(of data: Data) -> Data? {
        // A sequence of more than 8 bits is sRGB in any case.
        let profile = data.withUnsafeBytes { bytes in
            try? AVIFFile.read(bytes) { $0.isDeep && $0.frameCount > 1 ? nil : $0.colorProfile }
        }
        guard case .icc(let profile, _)? = profile else { return nil }
        return profile
    }

    /// The memory of the decoder's planes at up to 16 bits, including one for alpha, and of a reference frame's
    /// planes; above 8 bits that of RGBA words and their conversion, and of a picture that is cropped.
    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        let (decoded, items) =
            data.read { file in
                (try? ISOItems(file, format: .avif)).map { ($0.decodedBytes(of: nativeSize), $0.namedCount) }
            } ?? (nativeSize.bitmapBytes, 0)
        let pixels = decoded / 4
        let isDeep = info.bitsPerChannel > 8
        let planes = (info.hasAlpha ? 4 : 3) * (isDeep ? 2 : 1) * 2
        let (isCropped, profile) =
            data.withUnsafeBytes { bytes in
                try? AVIFFile.read(bytes) { ($0.crop != nil, $0.isDeep ? $0.colorProfile : nil) }
            } ?? (false, nil)
        // A file that is copied for the alpha of a grid's cells.
        let copied = data.read { AVIFCellAlpha.file(adding: $0)?.count } ?? 0
        // A sequence refers to eight frames, and its file is copied.
        let sequence = info.isAnimated ? 0.adding(planes * 4, times: pixels).adding(1, times: data.count) : 0
        return sequence.adding(planes + (isDeep ? 8 : 0) + (isCropped ? 4 : 0), times: pixels)
            .adding(1, times: profile?.workingBytes ?? 0).adding(1, times: copied).adding(2048, times: items)
    }

    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        try Self.decode(data, hasAlpha: plan.info.hasAlpha, context: context) { file, pixels in
            let isConverted = plan.converts(file.colorProfile) || file.frameCount > 1
            let bitmap =
                file.isDeep
                ? try pixels.deepBitmap(converting: isConverted ? file.colorProfile : nil)
                : try pixels.bitmap()
            return try file.crop.map { try bitmap.cropped(to: $0) } ?? bitmap
        }
    }

    /// Decodes the picture, or the first one of a sequence, and passes it to `body` as libavif has it.
    static func decode<Result>(
        _ data: Data, hasAlpha: Bool, context: WorkContext, _ body: (AVIFFile, AVIFPixels) throws -> Result
    ) throws -> Result {
        try data.withUnsafeBytes { bytes in
            guard !ISOImageHeader(ByteReader(bytes)).isCut else {
                throw CodecError.damaged(.avif, reason: "the file was cut off")
            }
            let (size, samples) = try AVIFFile.read(bytes) { ($0.codedSize, $0.samples) }
            return try AVIFFile.read(bytes, size: size) { file in
                try AVIFFile.check(avifDecoderNthImage(file.decoder, 0))
                try context.checkCancellation()
                // The coded picture may differ from the one that the container declares, by which its colours are converted.
                guard file.codedSize == size else {
                    throw CodecError.damaged(.avif, reason: "the decoded size differs from the header")
                }
                guard file.samples == samples else {
                    throw CodecError.damaged(.avif, reason: "its samples are of another kind than the header says")
                }
                return try body(file, AVIFPixels(image: file.image, size: size, hasAlpha: hasAlpha))
            }
        }
    }
}

/// Makes the coder, for the registry of coders.
@_cdecl("halcyon_coder_avif")
package func avifCoder() -> UnsafeMutableRawPointer { LinkedCoder.pass(AVIFCoder()) }
