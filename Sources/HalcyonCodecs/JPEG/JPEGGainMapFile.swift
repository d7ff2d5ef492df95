import CHalcyonCodecs
import Foundation
import HalcyonImage
import HalcyonSystem

/// A gain map as a JPEG of its own, to be appended to that of its picture.
///
/// The picture says that it has one in three ways: by a list of pictures (CIPA DC-007), which tells where the map is, by XMP (Ultra HDR)
/// and by the version of ISO 21496-1. The map has the metadata in both forms.
struct JPEGGainMapFile {
    /// The length of the list as a structure of TIFF: its header, a directory of three entries, and two pictures.
    private static let listLength = 8 + 2 + 3 * 12 + 4 + 2 * 16

    private let data: Data

    /// Encodes a map, in grey if its channels are alike, otherwise with colours at full size: their differences are gains.
    ///
    /// - Throws: `CodecError.encodingFailed`, `CancellationError`.
    init(_ map: GainMap, _ options: EncodeOptions, _ context: WorkContext) throws {
        // An error of a step in the map is one of a hundredth in the light: it is better than the picture, and follows it down where
        // the file has to be small.
        var own = EncodeOptions(quality: min(options.quality + 0.375, 0.75 + options.quality / 4))
        own.isProgressive = options.isProgressive
        let file = try JPEGCoder.encode(
            map.bitmap, own, colors: map.isMonochrome ? HALCYON_JPEG_GRAY : HALCYON_JPEG_FULL, context)
        var segments = Data()
        // XMP cannot say that the gains apply to other colours than the picture's.
        if map.metadata.usesBaseColorSpace || map.isMonochrome {
            JPEGMetadata.append(0xE1, Data("\(GainMap.Metadata.xmpName)".utf8) + map.metadata.xmp.utf8, to: &segments)
        }
        JPEGMetadata.append(0xE2, Data("\(GainMap.Metadata.isoName)".utf8) + map.metadata.iso, to: &segments)
        if let profile = map.colorProfile { try JPEGMetadata.append(profile: profile, to: &segments) }
        data = JPEGMetadata.inserting(segments, into: file)
    }

    /// Returns the file of a picture with its segments, and with the map behind it.
    func appended(to file: Data, _ segments: Data) throws -> Data {
        var segments = segments
        let xmp = GainMap.Metadata.xmp(ofPictureWithMapOf: data.count)
        JPEGMetadata.append(0xE1, Data("\(GainMap.Metadata.xmpName)".utf8) + xmp.utf8, to: &segments)
        JPEGMetadata.append(
            0xE2, Data("\(GainMap.Metadata.isoName)".utf8) + GainMap.Metadata.isoVersion, to: &segments)
        // Offsets count from behind the marker, the length and the name.
        let listStart = JPEGMetadata.headLength + segments.count + 2 + 2 + 4
        let pictureLength = file.count + segments.count + 2 + 2 + 4 + Self.listLength
        guard let length = Int32(exactly: pictureLength), let mapLength = Int32(exactly: data.count) else {
            throw CodecError.encodingFailed(.jpeg, reason: "it is too long for a list of its pictures")
        }
        let list = Self.list(length, mapLength, at: length - Int32(listStart))
        JPEGMetadata.append(0xE2, Data("MPF\0".utf8) + list, to: &segments)
        return JPEGMetadata.inserting(segments, into: file) + data
    }

    /// Returns the list of two pictures of these lengths, the second one at an offset.
    private static func list(_ picture: Int32, _ map: Int32, at offset: Int32) -> Data {
        var list = Data("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 3]
        // The version, the number of pictures, and the place of their descriptions.
        list += [0xB0, 0x00, 0, 7, 0, 0, 0, 4] + Data("0100".utf8)
        list += [0xB0, 0x01, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2]
        list += [0xB0, 0x02, 0, 7, 0, 0, 0, 32, 0, 0, 0, 50]
        // There is no other directory. The first picture is the primary one.
        for number in [0, 0x30000, picture, 0, 0, 0, map, offset, 0] { list.append(bigEndian: number) }
        return list
    }
}
