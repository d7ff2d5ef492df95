import Foundation
import HalcyonImage

extension Exif {
    /// A TIFF structure that says an orientation and nothing else.
    static func data(_ orientation: Orientation) -> Data {
        // Byte order and magic number, the directory's offset, one entry: tag, type, count, value; no next directory.
        var data = Data("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1]
        data += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0]
        return data
    }
}
