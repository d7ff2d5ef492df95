import Foundation
import HalcyonImage

/// Reads the orientation from EXIF.
enum Exif {
    /// The maximum number of entries that are examined. A directory has a few dozen, but a hostile one may claim
    /// 65,535.
    private static let maximumEntries = 512
    private static let orientationTag = 0x0112

    /// Returns the orientation in a TIFF structure (the bytes after `Exif\0\0` in a JPEG), or `.up` if there is none or
    /// the structure is broken: a bad tag must not make the image fail.
    static func orientation(inTIFF reader: ByteReader) -> Orientation {
        let isLittleEndian = reader.matches("II", at: 0)
        guard isLittleEndian || reader.matches("MM", at: 0) else { return .up }
        func short(_ offset: Int) -> Int? {
            isLittleEndian ? reader.littleEndian16(offset) : reader.bigEndian16(offset)
        }
        func long(_ offset: Int) -> Int? {
            isLittleEndian ? reader.littleEndian32(offset) : reader.bigEndian32(offset)
        }
        guard short(2) == 42, let directory = long(4), let count = short(directory) else { return .up }
        for index in 0..<min(count, maximumEntries) {
            let entry = directory + 2 + index * 12
            guard let tag = short(entry) else { return .up }
            guard tag == orientationTag else { continue }
            // A short number by the standard; writers also use bytes and long numbers, signed ones and undefined bytes.
            let value: Int? =
                switch short(entry + 2) {
                case 1, 6, 7: reader.byte(entry + 8)
                case 3, 8: short(entry + 8)
                case 4, 9: long(entry + 8)
                default: nil
                }
            return value.flatMap { Orientation(rawValue: $0) } ?? .up
        }
        return .up
    }

    /// Returns the orientation in a TIFF structure that may be preceded by the `Exif\0\0` of a JPEG, as some writers of
    /// WebP and PNG leave it.
    static func orientation(in reader: ByteReader) -> Orientation {
        let prefix: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
        let start = reader.matches(prefix, at: 0) ? prefix.count : 0
        return orientation(inTIFF: reader.part(at: start, length: reader.count))
    }
}

extension Exif {
    /// Returns a TIFF structure that contains nothing but an orientation.
    static func data(_ orientation: Orientation) -> Data {
        // Byte order and magic number; the offset of the directory; its one entry: tag, type, count, value; no next
        // directory.
        var data = Data("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1]
        data += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0]
        return data
    }
}
