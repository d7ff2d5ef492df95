import CHalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

extension JPEGCoder: ImageEncoder {
    package func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { true }

    package func writesMetadata(_ format: ImageFormat) -> Bool { true }

    /// Writes 4:2:0 with optimised Huffman tables. Transparent pixels are composited onto the background. A gain map is written by the
    /// rules of Ultra HDR and of ISO 21496-1 both, for the readers of either.
    package func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data {
        let file = try Self.encode(image.bitmap, options, context)
        let map = try options.keepsGainMap ? image.gainMap.map { try JPEGGainMapFile($0, options, context) } : nil
        let thumbnail = options.embedsThumbnail ? try Self.thumbnail(of: image, options, context) : nil
        return try JPEGMetadata.insert(
            options.storedOrientation(of: image), image.colorProfile, thumbnail: thumbnail, gainMap: map, into: file)
    }

    static func encode(
        _ bitmap: Bitmap, _ options: EncodeOptions, colors: halcyon_jpeg_colors = HALCYON_JPEG_HALF,
        _ context: WorkContext
    ) throws -> Data {
        let quality = max(1, Int32((try options.checkedQuality(for: .jpeg) * 100).rounded()))
        return try CodecCall.encode(bitmap, as: .jpeg, context: context) { pixels, output, call in
            halcyon_jpeg_encode(
                pixels, bitmap.isOpaque, UInt32(options.background.packed), quality, options.isProgressive, colors,
                output, call)
        }
    }

    /// Returns a small JPEG of the same pixels, in sRGB since it has no profile; nil for an image that is small itself.
    private static func thumbnail(
        of image: Image, _ options: EncodeOptions, _ context: WorkContext
    ) throws -> Data? {
        let box = PixelSize(JPEGMetadata.thumbnailSide, JPEGMetadata.thumbnailSide)
        let geometry = ResizeGeometry(source: image.size, box: box, mode: .fit, upscale: false)
        guard geometry.size != image.size else { return nil }
        var bitmap = try image.bitmap.resampled(geometry, filter: .area, context: context)
        if let profile = image.colorProfile,
            let color = try ColorTransforms.shared.transform(for: .icc(profile, .rgb))
        {
            bitmap = try color.convert(bitmap)
        }
        let file = try encode(bitmap, EncodeOptions(quality: 0.75, background: options.background), context)
        return file.count <= JPEGMetadata.maximumThumbnail ? file : nil
    }
}

/// The metadata segments that are inserted near the start of a written JPEG.
enum JPEGMetadata {
    /// The bytes of a profile that fit in a segment: its length is 16 bits and counts itself, and 14 bytes identify
    /// the part.
    private static let profilePart = 65_535 - 2 - 14

    /// The longer side of a thumbnail.
    static let thumbnailSide = 160
    /// The bytes of a thumbnail that fit in the segment of the EXIF data.
    static let maximumThumbnail = 65_000

    /// Returns the file with an orientation, an ICC profile and a thumbnail, and with a gain map behind it.
    ///
    /// - Throws: `CodecError.encodingFailed` for a profile of more than 255 parts.
    static func insert(
        _ orientation: Orientation, _ profile: Data?, thumbnail: Data?, gainMap: JPEGGainMapFile? = nil, into file: Data
    ) throws -> Data {
        guard orientation != .up || profile != nil || thumbnail != nil || gainMap != nil else { return file }
        var segments = Data()
        if orientation != .up || thumbnail != nil {
            let exif = Exif.data(orientation, thumbnail: thumbnail)
            append(0xE1, Data("Exif\0\0".utf8) + exif, to: &segments)
        }
        if let profile { try append(profile: profile, to: &segments) }
        guard let gainMap else { return inserting(segments, into: file) }
        return try gainMap.appended(to: file, segments)
    }

    /// Returns the file with segments behind SOI and the JFIF segment, which the encoder writes with a length of 16.
    static func inserting(_ segments: Data, into file: Data) -> Data {
        file.prefix(headLength) + segments + file.dropFirst(headLength)
    }

    static let headLength = 2 + 2 + 16

    /// - Throws: `CodecError.encodingFailed` for a profile of more than 255 parts.
    static func append(profile: Data, to segments: inout Data) throws {
        let count = (profile.count + profilePart - 1) / profilePart
        guard count <= 255 else { throw CodecError.encodingFailed(.jpeg, reason: "its profile is too long") }
        for number in 0..<count {
            let part = profile.dropFirst(number * profilePart).prefix(profilePart)
            let head = Data("ICC_PROFILE\0".utf8) + [UInt8(number + 1), UInt8(count)]
            append(0xE2, head + part, to: &segments)
        }
    }

    static func append(_ marker: UInt8, _ body: Data, to data: inout Data) {
        let length = body.count + 2
        data += [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)]
        data += body
    }
}
