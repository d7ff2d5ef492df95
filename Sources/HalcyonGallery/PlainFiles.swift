import Foundation
import Halcyon

/// Writers of uncompressed files for opaque pictures, in two formats that are hardly written so today.
enum PlainFiles {
    /// Returns a BMP file: rows from the bottom, each padded to a multiple of four bytes.
    static func bmp(_ image: Image) -> Data {
        let row = (image.width * 3 + 3) & ~3
        var file = Data("BM".utf8)
        for value in [54 + row * image.height, 0, 54, 40, image.width, image.height] { file.append32(value) }
        file.append16(1)
        file.append16(24)
        for value in [0, row * image.height, 0, 0, 0, 0] { file.append32(value) }
        for y in (0..<image.height).reversed() {
            for x in 0..<image.width {
                guard let pixel = image.bitmap.pixel(x: x, y: y) else { continue }
                file.append(contentsOf: [pixel.blue, pixel.green, pixel.red])
            }
            file.append(contentsOf: [UInt8](repeating: 0, count: row - image.width * 3))
        }
        return file
    }

    /// Returns a TIFF file: one strip, followed by its directory.
    static func tiff(_ image: Image) -> Data {
        let count = image.width * image.height * 3
        let (bits, directory) = (8 + count, 8 + count + 6)
        var file = Data("II".utf8)
        file.append16(42)
        file.append32(directory + directory % 2)
        for y in 0..<image.height {
            for x in 0..<image.width {
                guard let pixel = image.bitmap.pixel(x: x, y: y) else { continue }
                file.append(contentsOf: [pixel.red, pixel.green, pixel.blue])
            }
        }
        for _ in 0..<3 { file.append16(8) }
        if directory % 2 == 1 { file.append(0) }
        // Each entry: the tag, the type (3 is 16 bits, 4 is 32), the number of values, and the value or its offset.
        let entries = [
            (256, 4, 1, image.width), (257, 4, 1, image.height), (258, 3, 3, bits), (259, 3, 1, 1), (262, 3, 1, 2),
            (273, 4, 1, 8), (277, 3, 1, 3), (278, 4, 1, image.height), (279, 4, 1, count),
        ]
        file.append16(entries.count)
        for (tag, type, count, value) in entries {
            file.append16(tag)
            file.append16(type)
            file.append32(count)
            file.append32(value)
        }
        file.append32(0)
        return file
    }
}

extension Data {
    fileprivate mutating func append16(_ value: Int) {
        append(contentsOf: [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)])
    }

    fileprivate mutating func append32(_ value: Int) {
        append16(value)
        append16(value >> 16)
    }
}
