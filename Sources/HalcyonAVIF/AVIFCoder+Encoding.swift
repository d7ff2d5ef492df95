import CAVIF
import CHalcyonCodecs
import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

extension AVIFCoder: ImageEncoder {
    /// The speed on libavif's scale from 0 (slow) to 10.
    private static let speed: Int32 = 7
    private static let maximumSide = 65_536

    package func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { !options.isLossless }

    package func writesMetadata(_ format: ImageFormat) -> Bool { true }

    /// Writes 8-bit AVIF at a quality, or losslessly, with alpha if any pixel is not opaque; at most 65,536 pixels
    /// a side, and no more in all than libavif's default limit.
    ///
    /// Below a quality of 0.9, colour has half the resolution (4:2:0). The encode cannot be cancelled once libavif
    /// has started.
    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        guard image.width <= Self.maximumSide, image.height <= Self.maximumSide,
            image.width * image.height <= Int(AVIF_DEFAULT_IMAGE_SIZE_LIMIT)
        else { throw Self.failed("\(image.size) is more than it can hold") }
        let isFull = try options.isLossless || options.checkedQuality(for: .avif) >= 0.9
        let target = avifImageCreate(
            UInt32(image.width), UInt32(image.height), 8,
            isFull ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420)
        guard let target else { throw BitmapError.outOfMemory(bytes: image.bitmap.byteCount) }
        defer { avifImageDestroy(target) }
        Self.describe(&target.pointee, options: options)
        AVIFFile.setOrientation(options.storedOrientation(of: image), of: &target.pointee)
        image.colorProfile?.withUnsafeBytes { bytes in
            avifImageSetProfileICC(target, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
        try Self.convert(image.bitmap, into: target)
        try context.checkCancellation()
        return try Self.write(target, options: options)
    }

    private static func describe(_ image: inout avifImage, options: EncodeOptions) {
        image.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
        image.transferCharacteristics = avifTransferCharacteristics(AVIF_TRANSFER_CHARACTERISTICS_SRGB)
        let matrix = options.isLossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601
        image.matrixCoefficients = avifMatrixCoefficients(matrix)
        image.yuvRange = AVIF_RANGE_FULL
    }

    private static func convert(_ bitmap: Bitmap, into image: UnsafeMutablePointer<avifImage>) throws {
        let pixels = bitmap.width * bitmap.height
        var straight = [UInt8](repeating: 0, count: bitmap.byteCount)
        let isOpaque = bitmap.withPixels { source -> Bool in
            guard let source = source.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return true }
            halcyon_unpremultiply(source, &straight, pixels)
            return halcyon_is_opaque(source, pixels)
        }
        var rgb = avifRGBImage()
        avifRGBImageSetDefaults(&rgb, image)
        rgb.format = AVIF_RGB_FORMAT_BGRA
        rgb.ignoreAlpha = isOpaque ? 1 : 0
        rgb.rowBytes = UInt32(bitmap.bytesPerRow)
        let result = straight.withUnsafeMutableBufferPointer { bytes in
            rgb.pixels = bytes.baseAddress
            return avifImageRGBToYUV(image, &rgb)
        }
        try check(result)
    }

    private static func write(_ image: UnsafeMutablePointer<avifImage>, options: EncodeOptions) throws -> Data {
        guard let encoder = avifEncoderCreate() else { throw BitmapError.outOfMemory(bytes: 0) }
        defer { avifEncoderDestroy(encoder) }
        let worst = Double(AVIF_QUANTIZER_WORST_QUALITY)
        let quality = options.isLossless ? 1 : try options.checkedQuality(for: .avif)
        let quantizer = Int32(((1 - quality) * worst).rounded())
        encoder.pointee.maxThreads = 1
        encoder.pointee.speed = speed
        encoder.pointee.minQuantizer = quantizer
        encoder.pointee.maxQuantizer = quantizer
        // Errors in alpha show at every edge and cost little to avoid.
        encoder.pointee.minQuantizerAlpha = quantizer / 2
        encoder.pointee.maxQuantizerAlpha = quantizer / 2
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try check(avifEncoderWrite(encoder, image, &output))
        guard let bytes = output.data else { throw failed("libavif wrote nothing") }
        return Data(bytes: bytes, count: output.size)
    }

    private static func check(_ result: avifResult) throws {
        guard result != AVIF_RESULT_OK else { return }
        if result == AVIF_RESULT_OUT_OF_MEMORY { throw BitmapError.outOfMemory(bytes: 0) }
        throw failed(avifResultToString(result).map { String(cString: $0) } ?? "libavif's error \(result.rawValue)")
    }

    private static func failed(_ reason: String) -> CodecError { .encodingFailed(.avif, reason: reason) }
}
