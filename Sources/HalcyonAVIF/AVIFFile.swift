import CAVIF
import HalcyonCodecs
import Foundation
import HalcyonImage

/// An AVIF file that libavif has parsed without decoding any picture.
struct AVIFFile {
    let decoder: UnsafeMutablePointer<avifDecoder>
    let image: UnsafeMutablePointer<avifImage>
    let bytes: UnsafeRawBufferPointer

    /// Parses the bytes with libavif, and keeps the decoder while `body` runs.
    ///
    /// - Parameter size: the coded size that the header declares, beyond which libavif decodes nothing; nil while it is
    ///   not known.
    /// - Throws: `CodecError.damaged`, `.limitExceeded` for long chains of items, `BitmapError.outOfMemory`, and
    ///   the errors of `body`.
    static func read<Result>(
        _ bytes: UnsafeRawBufferPointer, size: PixelSize? = nil, _ body: (AVIFFile) throws -> Result
    ) throws -> Result {
        // libavif skips bytes that are not a box, and would find boxes behind them that have not been checked.
        let bytes = UnsafeRawBufferPointer(rebasing: bytes.prefix(ISOImageHeader(ByteReader(bytes)).byteCount))
        try ISOItemReferences(ByteReader(bytes)).check(.avif, sourcesMustBeImages: false)
        try AVIFMovie(ByteReader(bytes)).check()
        guard let file = AVIFCellAlpha.file(adding: ByteReader(bytes)) else {
            return try parse(bytes, size: size, body)
        }
        return try file.withUnsafeBytes { try parse($0, size: size, body) }
    }

    private static func parse<Result>(
        _ bytes: UnsafeRawBufferPointer, size: PixelSize?, _ body: (AVIFFile) throws -> Result
    ) throws -> Result {
        guard let decoder = avifDecoderCreate() else { throw BitmapError.outOfMemory(bytes: 0) }
        defer { avifDecoderDestroy(decoder) }
        configure(&decoder.pointee, size: size)
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try check(avifDecoderSetIOMemory(decoder, start, bytes.count))
        // Without a size hint, a truncated file parses as long as its property boxes are present.
        if size == nil { decoder.pointee.io?.pointee.sizeHint = 0 }
        try check(avifDecoderParse(decoder))
        guard let image = decoder.pointee.image else { throw CodecError.damaged(.avif, reason: "it has no image") }
        return try body(AVIFFile(decoder: decoder, image: image, bytes: bytes))
    }

    static func configure(_ decoder: inout avifDecoder, size: PixelSize?) {
        // Decodes already run in parallel.
        decoder.maxThreads = 1
        // The container's rotation and mirroring apply; an EXIF orientation must not be applied in addition.
        decoder.ignoreExif = 1
        decoder.ignoreXMP = 1
        // Widely used encoders did not meet these two requirements for years, and browsers do not enforce them
        // either.
        let strictness = AVIF_STRICT_ENABLED.rawValue & ~AVIF_STRICT_PIXI_REQUIRED.rawValue
        decoder.strictFlags = strictness & ~AVIF_STRICT_CLAP_VALID.rawValue
        decoder.imageCountLimit = 10_000
        decoder.imageDimensionLimit = UInt32(Bitmap.maximumSide)
        guard let size, let area = size.area else { return }
        // A coded frame or tile may be a little larger than its visible part.
        let slack = 1 << 20
        decoder.imageSizeLimit = UInt32(clamping: min(area + slack, Int(AVIF_DEFAULT_IMAGE_SIZE_LIMIT)))
    }

    /// The size of the picture before it is cropped.
    var codedSize: PixelSize { PixelSize(Int(image.pointee.width), Int(image.pointee.height)) }

    /// The bits of a channel, and whether there are colours.
    struct Samples: Equatable {
        let depth: UInt32
        let isGray: Bool

        init(_ image: avifImage) { (depth, isGray) = (image.depth, image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400) }
    }

    var samples: Samples { Samples(image.pointee) }

    /// The clean aperture (`clap`), to which the picture is cropped before it is turned; nil if there is none, or if it is
    /// invalid: not within the picture, not of whole pixels, or not at whole samples of its colours.
    var crop: PixelRect? {
        guard image.pointee.transformFlags & AVIF_TRANSFORM_CLAP.rawValue != 0 else { return nil }
        var rect = avifCropRect()
        var diagnostics = avifDiagnostics()
        let isValid = avifCropRectConvertCleanApertureBox(
            &rect, &image.pointee.clap, image.pointee.width, image.pointee.height, image.pointee.yuvFormat,
            &diagnostics)
        guard isValid != 0 else { return nil }
        let crop = PixelRect(x: Int(rect.x), y: Int(rect.y), width: Int(rect.width), height: Int(rect.height))
        return crop.clamped(to: codedSize) == crop && crop.size != codedSize ? crop : nil
    }

    /// Whether a channel has more than 8 bits. The colours are then converted before they are rounded to 8.
    var isDeep: Bool { image.pointee.depth > 8 }

    var info: ImageInfo {
        let size = crop?.size ?? codedSize
        let image = image.pointee
        let orientation = orientation
        let hasProfile = image.icc.size > 0
        let profile = UnsafeRawBufferPointer(start: image.icc.data, count: image.icc.size)
        let space: ColorSpace =
            hasProfile
            ? .icc(ICCProfile.name(of: ByteReader(profile)))
            : image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? .gray : .sRGB
        return ImageInfo(
            format: .avif, size: orientation.applied(to: size), frameCount: max(1, frameCount),
            hasAlpha: decoder.pointee.alphaPresent != 0, bitsPerChannel: Int(image.depth), orientation: orientation,
            colorSpace: space)
    }

    /// The ICC profile, or else the profile that the code points describe.
    var colorProfile: ColorProfile? {
        let image = image.pointee
        if image.icc.size > 0 {
            let data = Data(UnsafeRawBufferPointer(start: image.icc.data, count: image.icc.size))
            let isGray = image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400
            return .icc(data, isGray && data.read { $0.matches("GRAY", at: 16) } ? .gray : .rgb)
        }
        return CodePoints.profile(
            primaries: Int(image.colorPrimaries), transfer: Int(image.transferCharacteristics),
            peak: ISOContentLight.peak(of: ByteReader(bytes), format: .avif))
    }

    /// The orientation. The container rotates counter-clockwise first, and mirrors afterwards.
    private var orientation: Orientation {
        let flags = image.pointee.transformFlags
        let isMirrored = flags & AVIF_TRANSFORM_IMIR.rawValue != 0
        let angle = flags & AVIF_TRANSFORM_IROT.rawValue != 0 ? Int(image.pointee.irot.angle) & 3 : 0
        guard isMirrored else { return [.up, .left, .down, .right][angle] }
        return image.pointee.imir.mode == 0
            ? [.downMirrored, .leftMirrored, .upMirrored, .rightMirrored][angle]
            : [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored][angle]
    }

    /// Sets the rotation, and the mirroring after it, that give the orientation: the inverse of `orientation`.
    static func setOrientation(_ orientation: Orientation, of image: inout avifImage) {
        let turns: [Orientation: UInt8] = [
            .up: 0, .left: 1, .down: 2, .right: 3, .upMirrored: 0, .rightMirrored: 1, .downMirrored: 2,
            .leftMirrored: 3,
        ]
        let isMirrored = [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored].contains(orientation)
        guard let angle = turns[orientation], orientation != .up else { return }
        if angle > 0 {
            image.transformFlags |= AVIF_TRANSFORM_IROT.rawValue
            image.irot.angle = angle
        }
        if isMirrored {
            image.transformFlags |= AVIF_TRANSFORM_IMIR.rawValue
            image.imir.mode = 1
        }
    }

    /// Converts a result of libavif into an error.
    ///
    /// - Throws: `CodecError.damaged`, `BitmapError.outOfMemory`.
    static func check(_ result: avifResult) throws {
        guard result != AVIF_RESULT_OK else { return }
        if result == AVIF_RESULT_OUT_OF_MEMORY { throw BitmapError.outOfMemory(bytes: 0) }
        let text = avifResultToString(result).map { String(cString: $0) } ?? "libavif's error \(result.rawValue)"
        throw CodecError.damaged(.avif, reason: text)
    }
}
