import CHalcyonCodecs
import CZlib
import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder for PNG: every colour type and depth, interlaced or not, and APNG. Reads by libpng what `PNGPlain` does not take, and
/// writes by it.
///
/// Decodes straight into the bitmap at the stored size; 16-bit channels are rounded to 8, unless they are asked for.
package struct PNGCoder: RowImageDecoder, ImageEncoder {
    private let readsOrientation: Bool

    /// - Parameter readsOrientation: whether the orientation of EXIF data counts.
    package init(readsOrientation: Bool = true) {
        self.readsOrientation = readsOrientation
    }

    package var formats: [ImageFormat] { [.png] }

    package func canDecode(_ data: Data) -> Bool { FormatSniffer.hasSignature(data, of: .png) }

    /// Reads the header. The frames of a whole APNG are those that are in order; a file that is cut off has the number that
    /// it declares.
    package func probe(_ data: Data) throws -> ImageInfo {
        try data.read { reader in
            var info = try PNGHeader.info(reader, readsOrientation: readsOrientation)
            guard info.isAnimated else { return info }
            let frames = APNGFrames(data, info: info)
            // A canvas that no frame covers, or that a frame clears, shows through.
            if let frames, frames.leavesGaps(on: info.storedSize) { info.hasAlpha = true }
            guard PNGHeader.isWhole(reader) else { return info }
            info.frameCount = frames?.entries.count ?? 1
            if !info.isAnimated { info.loopCount = nil }
            return info
        }
    }

    /// Returns the extent by the number of frames that the header declares, which may be more than there are.
    package func codedExtent(of data: Data, info: ImageInfo) -> CodedExtent {
        CodedExtent((try? data.read { try PNGHeader.info($0) }) ?? info)
    }

    static let noFrame = CodecError.damaged(.png, reason: "its first frame is incomplete")

    private static func isAnimation(_ data: Data) -> Bool { data.read { PNGHeader.isAnimation($0) } }

    package func metadataByteCount(_ data: Data) -> Int { data.read { PNGHeader.metadataByteCount($0) } }

    package func colorProfile(of data: Data) -> ColorProfile? {
        data.read { PNGHeader.isDeep($0) ? nil : PNGColor.profile($0) }
    }

    package func embeddedProfile(of data: Data) -> Data? {
        guard case .icc(let profile, _)? = data.read({ PNGColor.profile($0) }) else { return nil }
        return profile
    }

    /// Returns the conversion of 16-bit channels before they are multiplied by alpha and rounded to 8 bits; nil if they
    /// have to be rounded first, or need no conversion.
    static func deepTransform(for data: Data, plan: DecodePlan) throws -> ColorTransform? {
        let profile = data.read { PNGHeader.isDeep($0) ? PNGColor.profile($0) : nil }
        guard plan.converts(profile) else { return nil }
        return try ColorTransforms.shared.transform(for: profile, isDeep: true)
    }

    /// Returns the memory of an APNG, which is two canvases in addition to that of the first frame, and the frame
    /// as a file of its own; or of a still image, which is the conversion of its 16-bit channels.
    package func workingBytes(of data: Data, info: ImageInfo, nativeSize: PixelSize) -> Int {
        guard !Self.isAnimation(data) else { return data.count.adding(2, times: nativeSize.bitmapBytes) }
        return data.read { PNGHeader.isDeep($0) ? PNGColor.profile($0)?.workingBytes ?? 0 : 0 }
    }

    /// Returns false for Adam7, each of whose passes covers the whole image, and for APNG, whose frames are drawn
    /// onto each other.
    package func deliversRows(of data: Data, info: ImageInfo) -> Bool {
        !Self.isAnimation(data) && data.read { $0.byte(28) } == 0
    }

    package func decodeRows(
        of data: Data, plan: DecodePlan, into sink: RowSink, context: WorkContext
    ) throws {
        let deep = try Self.deepTransform(for: data, plan: plan)
        try Self.decode(
            data, size: plan.nativeSize, deep: deep, pixels: nil, rows: halcyon_codec_rows(sink), context: context)
    }

    /// Decodes the image, or the first frame of an APNG: the default image of an APNG need not be a frame, and is
    /// then a notice for programs that show no animations.
    package func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        let isAnimation = Self.isAnimation(data)
        let frames = isAnimation ? APNGFrames(data, info: plan.info) : nil
        // A file that is cut off before its first frame shows another image than the whole file.
        if frames == nil, isAnimation, !data.read({ PNGHeader.isWhole($0) }) { throw Self.noFrame }
        if let frames, !frames.beginsWithDefaultImage {
            var compositor = FrameCompositor(
                APNGFrameReader(data: data, frames: frames), size: plan.storedSize)
            return try compositor.canvas(at: 0, context: context)
        }
        let deep = try Self.deepTransform(for: data, plan: plan)
        return try Self.decodeImage(
            data, size: plan.nativeSize, isOpaque: !plan.info.hasAlpha, deep: deep, context: context)
    }

    static func decodeImage(
        _ data: Data, size: PixelSize, isOpaque: Bool, deep: ColorTransform? = nil, context: WorkContext
    ) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: isOpaque) { pixels in
            try decode(
                data, size: size, deep: deep, pixels: pixels.baseAddress?.assumingMemoryBound(to: UInt8.self),
                rows: halcyon_codec_rows(), context: context)
        }
    }

    private static func decode(
        _ data: Data, size: PixelSize, deep: ColorTransform?, pixels: UnsafeMutablePointer<UInt8>?,
        rows: halcyon_codec_rows, context: WorkContext
    ) throws {
        var layout = layout(size, deep: deep)
        try CodecCall.decode(.png, context: context, bytes: size.bitmapBytes) { call in
            data.withUnsafeBytes { bytes in
                // The C code uses memory of the transform, which must not be released before the end.
                withExtendedLifetime(deep) {
                    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    guard deep == nil, let plain = PNGPlain(ByteReader(bytes), size: size) else {
                        return halcyon_png_decode(start, bytes.count, layout, pixels, rows, call)
                    }
                    return plain.withPointer {
                        layout.plain = $0
                        return halcyon_png_decode(start, bytes.count, layout, pixels, rows, call)
                    }
                }
            }
        }
    }

    static func layout(_ size: PixelSize, deep: ColorTransform?) -> halcyon_png_layout {
        halcyon_png_layout(
            width: Int32(clamping: size.width), height: Int32(clamping: size.height),
            deep: deep?.deep ?? halcyon_codec_deep(), plain: nil)
    }

    package func writesMetadata(_ format: ImageFormat) -> Bool { true }

    /// Writes 8-bit RGB if every pixel is opaque, otherwise RGBA, at zlib's level 4; deep pixels with 16 bits.
    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        if let deep = image.deepBitmap, options.isDeep {
            return try Self.encode(deep, orientation: options.storedOrientation(of: image), context: context)
        }
        let file = try Self.encode(image.bitmap, keepsAlpha: false, context: context)
        return try PNGMetadata.insert(options.storedOrientation(of: image), image.colorProfile, into: file)
    }

    static func encode(_ bitmap: Bitmap, keepsAlpha: Bool, context: WorkContext) throws -> Data {
        try CodecCall.encode(bitmap, as: .png, context: context) { bitmap, output, call in
            halcyon_png_encode(bitmap, keepsAlpha, output, call)
        }
    }
}

/// Inserts the chunks of metadata behind the header of a PNG.
enum PNGMetadata {
    /// Returns the file with an orientation, a profile and other chunks, each of which begins with its name.
    ///
    /// - Throws: `CodecError.encodingFailed`.
    static func insert(
        _ orientation: Orientation, _ profile: Data?, chunks: [Data] = [], into file: Data
    ) throws -> Data {
        guard orientation != .up || profile != nil || !chunks.isEmpty else { return file }
        // The name of the profile, a zero, and 0 for the only compression method.
        let packed = try profile.map { Data("iCCP".utf8) + Data("ICC profile\0\0".utf8) + (try compressed($0)) }
        return file.read { reader in
            var result = Data(reader.bytes.prefix(8))
            for chunk in PNGChunks(reader) {
                // The profile replaces an sRGB chunk.
                if chunk.isNamed("sRGB"), packed != nil { continue }
                result.append(contentsOf: reader.bytes[chunk.offset..<chunk.end])
                guard chunk.isNamed("IHDR") else { continue }
                for chunk in chunks { APNGFrameReader.append(chunk, to: &result) }
                if let packed { APNGFrameReader.append(packed, to: &result) }
                if orientation != .up {
                    APNGFrameReader.append(Data("eXIf".utf8) + Exif.data(orientation), to: &result)
                }
            }
            return result
        }
    }

    private static func compressed(_ data: Data) throws -> Data {
        var count = compressBound(UInt(data.count))
        var result = Data(count: Int(count))
        let status = result.withUnsafeMutableBytes { target in
            data.withUnsafeBytes { source in
                compress(
                    target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count,
                    source.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(source.count))
            }
        }
        guard status == Z_OK else {
            throw CodecError.encodingFailed(.png, reason: "its profile cannot be compressed")
        }
        return result.prefix(Int(count))
    }
}
