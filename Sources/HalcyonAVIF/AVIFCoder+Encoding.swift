import CAVIF
import CHalcyonCodecs
import HalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

extension AVIFCoder: ImageEncoder {
    /// The speed on libavif's scale from 0 (slow) to 10.
    private static let speed: Int32 = 7
    /// The highest speed of a sequence. Those above are libaom's real-time mode, which ends the process at 7 if there is alpha, and
    /// leaves out changes at all of them: where patterns take turns, where nothing may be lost, and at 9 in more (libaom 3.6).
    private static let sequenceSpeed: Int32 = 6
    private static let maximumSide = 65_536

    package func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { !options.isLossless }

    package func writesMetadata(_ format: ImageFormat) -> Bool { true }

    /// Writes 8-bit AVIF, or deep pixels with 10 or 12 bits, at a quality, or losslessly, with alpha if any pixel is
    /// not opaque; at most 65,536 pixels a side, and no more in all than libavif's default limit.
    ///
    /// Below a quality of 0.9, colour has half the resolution (4:2:0). The encode cannot be cancelled once libavif
    /// has started.
    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        if let deep = image.deepBitmap, options.isDeep {
            let orientation = options.storedOrientation(of: image)
            return try Self.encode(deep, orientation: orientation, options: options, context: context)
        }
        return try Self.withTarget(image.size, options: options) { target in
            AVIFFile.setOrientation(options.storedOrientation(of: image), of: &target.pointee)
            image.colorProfile?.withUnsafeBytes { bytes in
                avifImageSetProfileICC(target, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
            }
            try Self.convert(image.bitmap, isOpaque: image.bitmap.hasOpaquePixelsOnly, into: target)
            try context.checkCancellation()
            return try Self.write(options: options) { encoder, output in
                try Self.check(avifEncoderWrite(encoder, target, &output))
            }
        }
    }

    /// Lends an empty picture of libavif's.
    static func withTarget<Result>(
        _ size: PixelSize, bits: UInt32 = 8, options: EncodeOptions,
        _ body: (UnsafeMutablePointer<avifImage>) throws -> Result
    ) throws -> Result {
        guard size.width <= maximumSide, size.height <= maximumSide,
            size.width * size.height <= Int(AVIF_DEFAULT_IMAGE_SIZE_LIMIT)
        else { throw failed("\(size) is more than it can hold") }
        let format = hasFullColor(options) ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420
        let target = avifImageCreate(UInt32(size.width), UInt32(size.height), bits, format)
        guard let target else { throw BitmapError.outOfMemory(bytes: size.bitmapBytes) }
        defer { avifImageDestroy(target) }
        describe(&target.pointee, options: options)
        return try body(target)
    }

    private static func hasFullColor(_ options: EncodeOptions) -> Bool { options.isLossless || options.quality >= 0.9 }

    static func describe(_ image: inout avifImage, options: EncodeOptions) {
        image.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
        image.transferCharacteristics = avifTransferCharacteristics(AVIF_TRANSFER_CHARACTERISTICS_SRGB)
        let matrix = options.isLossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601
        image.matrixCoefficients = avifMatrixCoefficients(matrix)
        image.yuvRange = AVIF_RANGE_FULL
    }

    static func convert(
        _ bitmap: Bitmap, isOpaque: Bool, into image: UnsafeMutablePointer<avifImage>
    ) throws {
        let pixels = bitmap.width * bitmap.height
        var straight = [UInt8](repeating: 0, count: bitmap.byteCount)
        bitmap.withPixels { source in
            guard let source = source.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            halcyon_unpremultiply(source, &straight, pixels)
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

    /// Writes a file by what `body` gives to an encoder.
    static func write(
        options: EncodeOptions, isSequence: Bool = false,
        _ body: (UnsafeMutablePointer<avifEncoder>, inout avifRWData) throws -> Void
    ) throws -> Data {
        guard let encoder = avifEncoderCreate() else { throw BitmapError.outOfMemory(bytes: 0) }
        defer { avifEncoderDestroy(encoder) }
        let worst = Double(AVIF_QUANTIZER_WORST_QUALITY)
        let quality = options.isLossless ? 1 : try options.checkedQuality(for: .avif)
        let quantizer = Int32(((1 - quality) * worst).rounded())
        encoder.pointee.maxThreads = 1
        let speed = options.effortLevel(10).map { Int32(10 - $0) } ?? speed
        encoder.pointee.speed = isSequence ? min(speed, sequenceSpeed) : speed
        encoder.pointee.minQuantizer = quantizer
        encoder.pointee.maxQuantizer = quantizer
        // Errors in alpha show at every edge and cost little to avoid.
        encoder.pointee.minQuantizerAlpha = quantizer / 2
        encoder.pointee.maxQuantizerAlpha = quantizer / 2
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try body(encoder, &output)
        guard let bytes = output.data else { throw failed("libavif wrote nothing") }
        return Data(bytes: bytes, count: output.size)
    }

    static func check(_ result: avifResult) throws {
        guard result != AVIF_RESULT_OK else { return }
        if result == AVIF_RESULT_OUT_OF_MEMORY { throw BitmapError.outOfMemory(bytes: 0) }
        throw failed(avifResultToString(result).map { String(cString: $0) } ?? "libavif's error \(result.rawValue)")
    }

    static func failed(_ reason: String) -> CodecError { .encodingFailed(.avif, reason: reason) }
}

extension AVIFCoder: AnimatedImageEncoder {
    /// The most frames from one key frame to the next: a jump decodes as many.
    private static let keyframeInterval: Int32 = 30

    /// Returns the memory of the frames that libaom looks at before it writes the first of them, up to 35, and of those that it refers
    /// to, with alpha, as measured at the lower speeds.
    package func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int {
        let base = options.effortLevel(10) ?? 0 < 8 ? 40 << 20 : 64 << 20
        return base.adding(Self.hasFullColor(options) ? 190 : 140, times: animation.size.bitmapBytes)
    }

    /// Writes a sequence, lossy by quality or lossless, whose durations are rounded to milliseconds, and are 49 days at most.
    ///
    /// libavif 0.11 writes no number of loops: the sequence plays for ever, whatever the animation's number is. Efforts below 0.4 are
    /// those of 0.4. libaom writes up to 35 frames at the end, where the encode cannot be cancelled.
    package func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data {
        let isOpaque = try animation.isOpaque(context)
        let data = try Self.write(options: options, isSequence: animation.frameCount > 1) { encoder, output in
            encoder.pointee.timescale = 1000
            encoder.pointee.keyframeInterval = Self.keyframeInterval
            var written = 0
            for (index, end) in animation.endsInMilliseconds(shortest: 1, longest: Int(UInt32.max)).enumerated() {
                let frame = try animation.frame(at: index, context: context)
                try Self.withTarget(frame.size, options: options) { target in
                    // All frames have alpha, or none has.
                    try Self.convert(frame, isOpaque: isOpaque, into: target)
                    let flags = animation.frameCount == 1 ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE
                    try Self.check(
                        avifEncoderAddImage(encoder, target, UInt64(UInt32(clamping: end - written)), flags.rawValue))
                }
                written = end
                try context.checkCancellation()
            }
            try Self.check(avifEncoderFinish(encoder, &output))
        }
        return Self.clearingTimes(of: data)
    }

    /// Clears the times of writing, so that the same frames are the same bytes on all machines.
    private static func clearingTimes(of data: Data) -> Data {
        let places: [Range<Int>] = data.read { times(in: $0, from: 0) }
        return places.reduce(into: data) { $0.replaceSubrange($1, with: Data(count: $1.count)) }
    }

    /// Returns the places of the times of creation and change in the boxes of a movie.
    private static func times(in reader: ByteReader, from place: Int) -> [Range<Int>] {
        let (containers, headers): ([StaticString], [StaticString]) = (
            ["moov", "trak", "mdia"], ["mvhd", "tkhd", "mdhd"]
        )
        return ISOBox.all(in: reader).flatMap { box -> [Range<Int>] in
            let start = place + box.end - box.body.count
            if containers.contains(where: box.isNamed) {
                return times(in: box.body, from: start)
            }
            guard headers.contains(where: box.isNamed) else { return [] }
            // Both have 8 bytes in version 1 of these boxes, and 4 in version 0.
            return [start + 4..<min(start + (box.body.byte(0) == 1 ? 20 : 12), start + box.body.count)]
        }
    }
}
