import Foundation
import HalcyonImage

/// Reads the orientation and the thumbnail from EXIF.
package enum Exif {
    /// Returns the orientation in a TIFF structure (the bytes after `Exif\0\0` in a JPEG), or `.up` if there is none or
    /// the structure is broken: a bad tag must not make the image fail.
    package static func orientation(inTIFF reader: ByteReader) -> Orientation {
        declaredOrientation(inTIFF: reader) ?? .up
    }

    private static func declaredOrientation(inTIFF reader: ByteReader) -> Orientation? {
        ExifDirectory.first(of: reader)?.orientation
    }

    /// Returns the orientation in a TIFF structure that may be preceded by the `Exif\0\0` of a JPEG, as some writers of
    /// WebP and PNG leave it.
    package static func orientation(in reader: ByteReader) -> Orientation { declaredOrientation(in: reader) ?? .up }

    /// Returns the orientation in bytes that `orientation(in:)` reads; nil if there is none or it is broken.
    static func declaredOrientation(in reader: ByteReader) -> Orientation? {
        let start = prefixLength(of: reader)
        return declaredOrientation(inTIFF: reader.part(at: start, length: reader.count))
    }

    private static func prefixLength(of reader: ByteReader) -> Int {
        let prefix: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
        return reader.matches(prefix, at: 0) ? prefix.count : 0
    }
}

extension Exif {
    private static let compressionTag = 0x0103
    private static let offsetTag = 0x0201
    private static let lengthTag = 0x0202
    private static let jpegCompression = 6

    /// Returns the place of the thumbnail in bytes that `orientation(in:)` reads: a JPEG, by the second directory. Nil if
    /// there is none, or if it does not lie within the bytes as a whole.
    package static func thumbnail(in reader: ByteReader) -> Range<Int>? {
        let start = prefixLength(of: reader)
        let tiff = reader.part(at: start, length: reader.count)
        guard let second = ExifDirectory.first(of: tiff)?.next,
            second.value(of: compressionTag) ?? jpegCompression == jpegCompression,
            let offset = second.value(of: offsetTag), let length = second.value(of: lengthTag),
            length > 0, tiff.has(length, at: offset)
        else { return nil }
        return start + offset..<start + offset + length
    }
}

extension Exif {
    /// Returns a TIFF structure that contains nothing but an orientation, and a JPEG as the thumbnail.
    package static func data(_ orientation: Orientation, thumbnail: Data? = nil) -> Data {
        // Byte order and magic number; the offset of the directory; its one entry: tag, type, count, value.
        var data = Data("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1]
        data += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0]
        // The offset of the next directory, or none.
        guard let thumbnail else { return data + [0, 0, 0, 0] }
        data += [0, 0, 0, 26, 0, 3, 0x01, 0x03, 0, 3, 0, 0, 0, 1, 0, UInt8(jpegCompression), 0, 0]
        // The thumbnail follows this directory, which has no next one.
        for (tag, value) in [(offsetTag, 26 + 2 + 3 * 12 + 4), (lengthTag, thumbnail.count)] {
            data += [UInt8(tag >> 8), UInt8(tag & 255), 0, 4, 0, 0, 0, 1]
            data += (0..<4).map { UInt8(value >> (24 - $0 * 8) & 255) }
        }
        return data + [0, 0, 0, 0] + thumbnail
    }
}
