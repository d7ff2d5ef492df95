import CZlib
import HalcyonCodecs
import Foundation
import HalcyonImage

/// Writes pixels as a PNG for librsvg, whether or not the build has a coder for PNG.
enum SVGPixels {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// - Throws: `BitmapError.outOfMemory`.
    static func png(_ bitmap: Bitmap) throws -> Data {
        let content = try Self.packed(Self.rows(of: bitmap))
        var file = Data(signature)
        // 8 bits for each of red, green, blue and alpha.
        let header = bytes(UInt32(bitmap.width)) + bytes(UInt32(bitmap.height)) + [8, 6, 0, 0, 0]
        let chunks: [(name: String, body: [UInt8])] = [("IHDR", header), ("IDAT", content), ("IEND", [])]
        for chunk in chunks {
            let text = Array(chunk.name.utf8) + chunk.body
            let sum = text.withUnsafeBufferPointer { crc32_z(0, $0.baseAddress, $0.count) }
            file += bytes(UInt32(chunk.body.count)) + text + bytes(UInt32(truncatingIfNeeded: sum))
        }
        return file
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// Returns the rows without filters, each behind the zero that says so.
    private static func rows(of bitmap: Bitmap) -> [UInt8] {
        var rows: [UInt8] = []
        rows.reserveCapacity(bitmap.height * (bitmap.width * 4 + 1))
        bitmap.withPixels { pixels in
            for offset in stride(from: 0, to: pixels.count, by: 4) {
                if offset % (bitmap.width * 4) == 0 { rows.append(0) }
                let alpha = Int(pixels[offset + 3])
                for channel in [2, 1, 0] {
                    let color = alpha > 0 ? (Int(pixels[offset + channel]) * 255 + alpha / 2) / alpha : 0
                    rows.append(UInt8(min(color, 255)))
                }
                rows.append(UInt8(alpha))
            }
        }
        return rows
    }

    private static func packed(_ rows: [UInt8]) throws -> [UInt8] {
        var count = compressBound(UInt(rows.count))
        var packed = [UInt8](repeating: 0, count: Int(count))
        guard compress2(&packed, &count, rows, UInt(rows.count), Z_BEST_SPEED) == Z_OK else {
            throw BitmapError.outOfMemory(bytes: packed.count)
        }
        return Array(packed.prefix(Int(count)))
    }
}
