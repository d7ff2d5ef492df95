import Foundation
import HalcyonImage

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
