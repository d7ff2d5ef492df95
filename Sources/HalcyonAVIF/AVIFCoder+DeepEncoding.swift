import CAVIF
import CHalcyonCodecs
import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

extension AVIFCoder {
    package func mostBitsPerChannel(_ format: ImageFormat) -> Int { 12 }

    /// Writes 10 or 12 bits a channel, with the code points of the colour space.
    static func encode(
        _ deep: DeepBitmap, orientation: Orientation, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        let space = deep.format.colorSpace
        let integers = try deep.converted(to: .init(.uint16, colorSpace: space), context: context)
        return try withTarget(deep.size, bits: options.bitsPerChannel ?? 8 <= 10 ? 10 : 12, options: options) {
            target in
            AVIFFile.setOrientation(orientation, of: &target.pointee)
            describe(&target.pointee, space, options: options)
            try convert(integers, into: target)
            try context.checkCancellation()
            return try write(options: options) { encoder, output in
                try check(avifEncoderWrite(encoder, target, &output))
            }
        }
    }

    private static func describe(_ image: inout avifImage, _ space: NamedColorSpace, options: EncodeOptions) {
        let (primaries, transfer) = space.codePoints
        image.colorPrimaries = avifColorPrimaries(UInt16(primaries))
        image.transferCharacteristics = avifTransferCharacteristics(UInt16(transfer))
        // Identity without a loss; otherwise the matrix of the primaries, which that of BT.601 stands for below BT.2020.
        if !options.isLossless, primaries == 9 {
            image.matrixCoefficients = avifMatrixCoefficients(AVIF_MATRIX_COEFFICIENTS_BT2020_NCL)
        }
    }

    private static func convert(_ deep: DeepBitmap, into image: UnsafeMutablePointer<avifImage>) throws {
        guard let words = malloc(deep.byteCount) else { throw BitmapError.outOfMemory(bytes: deep.byteCount) }
        defer { free(words) }
        deep.withPixels { source in
            halcyon_deep_straighten(
                source.baseAddress?.assumingMemoryBound(to: UInt16.self), HALCYON_CHANNELS_UINT16, !deep.isOpaque,
                words.assumingMemoryBound(to: UInt16.self), deep.width * deep.height)
        }
        var rgb = avifRGBImage()
        avifRGBImageSetDefaults(&rgb, image)
        (rgb.format, rgb.depth) = (AVIF_RGB_FORMAT_RGBA, 16)
        rgb.ignoreAlpha = deep.hasOpaquePixelsOnly ? 1 : 0
        rgb.rowBytes = UInt32(deep.bytesPerRow)
        rgb.pixels = words.assumingMemoryBound(to: UInt8.self)
        try check(avifImageRGBToYUV(image, &rgb))
    }
}
