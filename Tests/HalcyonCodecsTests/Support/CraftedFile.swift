import CZlib
import Foundation
import HalcyonImage

/// Files that no encoder writes, put together byte by byte.
enum CraftedFile {
    // MARK: WebP

    static func riff(_ chunks: Data...) -> Data {
        let body = Data("WEBP".utf8) + chunks.reduce(Data(), +)
        return Data("RIFF".utf8) + little32(body.count) + body
    }

    static func canvas(_ width: Int, _ height: Int) -> Data {
        let sides = [width - 1, height - 1].flatMap { side in (0..<3).map { UInt8(side >> ($0 * 8) & 255) } }
        return Data("VP8X".utf8) + little32(10) + [0, 0, 0, 0] + sides
    }

    private static func little32(_ value: Int) -> Data {
        Data((0..<4).map { UInt8(value >> ($0 * 8) & 255) })
    }

    // MARK: JPEG

    /// A grey progressive JPEG whose scans are empty but cost a pass each. Sides are multiples of 8.
    static func jpeg(width: Int, height: Int, scans: Int) -> Data {
        var file = Data([0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64))
        file += [0xFF, 0xC2, 0, 11, 8] + big16(height) + big16(width) + [1, 1, 0x11, 0]
        // One code, a single zero bit: so many blocks end here as the next 14 bits say.
        file += [0xFF, 0xC4, 0, 20, 0x10, 1] + [UInt8](repeating: 0, count: 15) + [0xE0]
        // The averages, all of which are as the one before: one code, a single zero bit.
        let blocks = width / 8 * height / 8
        file += [0xFF, 0xC4, 0, 20, 0, 1] + [UInt8](repeating: 0, count: 16)
        file += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: (blocks + 7) / 8)
        let scan = Data([0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 63, 0]) + emptyBlocks(blocks)
        for _ in 1..<scans { file += scan }
        return file + [0xFF, 0xD9]
    }

    private static func emptyBlocks(_ count: Int) -> Data {
        let runs = (count + 32_766) / 32_767
        var bits = (0..<runs).flatMap { _ in [false] + [Bool](repeating: true, count: 14) }
        bits += [Bool](repeating: true, count: (8 - bits.count % 8) % 8)
        return bytes(bits) { $0 << 1 | $1 }.reduce(into: Data()) { data, byte in
            data.append(byte)
            if byte == 0xFF { data.append(0) }
        }
    }

    private static func big16(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

    // MARK: GIF

    /// A black canvas, and behind a first frame that fills it the same frame over and over. Frames have the data of four
    /// pixels, whatever their size.
    static func gif(_ canvas: PixelSize, frames: Int, of rect: PixelRect) -> Data {
        func little(_ values: Int...) -> Data { Data(values.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }) }
        func frame(_ rect: PixelRect) -> Data {
            Data([0x2C]) + little(rect.x, rect.y, rect.size.width, rect.size.height) + [0, 2, 2, 0x8C, 0x53, 0]
        }
        var data = Data("GIF89a".utf8) + little(canvas.width, canvas.height)
        data += [0x80, 0, 0, 0, 0, 0, 255, 255, 255] as [UInt8]
        data += frame(PixelRect(x: 0, y: 0, width: canvas.width, height: canvas.height))
        let other = frame(rect)
        for _ in 1..<frames { data += other }
        data.append(0x3B)
        return data
    }

    // MARK: TIFF

    /// A grey slope of 40 x 24 pixels in six strips, with the directory before them: bytes, or numbers of 32 bits.
    static func tiffStrips(isReal: Bool) -> Data {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> ($0 * 8) & 255) } }
        let (width, height, rows, strips) = (40, 24, 4, 6)
        let length = width * rows * (isReal ? 4 : 1)
        let lists = 8 + 2 + 10 * 12 + 4
        let pixels = lists + strips * 8
        let entries = [
            (256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, isReal ? 32 : 8), (259, 3, 1, 1), (262, 3, 1, 1),
            (273, 4, strips, lists), (277, 3, 1, 1), (278, 3, 1, rows), (279, 4, strips, lists + strips * 4),
            (339, 3, 1, isReal ? 3 : 1),
        ]
        var data = Data(little(0x2A_4949, 4) + little(8, 4) + little(entries.count, 2))
        for entry in entries {
            data += little(entry.0, 2) + little(entry.1, 2) + little(entry.2, 4) + little(entry.3, 4)
        }
        data += little(0, 4)
        for strip in 0..<strips { data += little(pixels + strip * length, 4) }
        for _ in 0..<strips { data += little(length, 4) }
        for index in 0..<width * height {
            let value = 40 + index / 5
            data += isReal ? little(Int((Float(value) / 255).bitPattern), 4) : [UInt8(value)]
        }
        return data
    }

    // MARK: PNG

    /// An APNG of 8-bit palette pixels, 2 x 2, whose frames are the default image and `frames - 1` more.
    ///
    /// - Parameters:
    ///   - shared: chunks between the header and the pixels.
    ///   - parts: in how many chunks each later frame's pixels lie; empty ones among them.
    static func apng(frames: Int, shared: [(String, Data)], parts: Int = 1) -> Data {
        var number: UInt32 = 0
        func next() -> Data {
            defer { number += 1 }
            return big32(number)
        }
        func control() -> Data {
            chunk("fcTL", next() + big32(2) + big32(2) + big32(0) + big32(0) + Data([0, 1, 0, 10, 0, 0]))
        }
        // Stored: two rows, each behind its filter, of the indices 0 and 1.
        let rows: [UInt8] = [0, 0, 1, 0, 1, 0]
        let sums = rows.reduce((1, 0)) { ($0.0 + Int($1), $0.1 + $0.0 + Int($1)) }
        let stream =
            Data([0x78, 0x01, 1, 6, 0, 0xF9, 0xFF] + rows)
            + Data([UInt8(sums.1 >> 8), UInt8(sums.1 & 255), UInt8(sums.0 >> 8), UInt8(sums.0 & 255)])
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        file += chunk("IHDR", big32(2) + big32(2) + Data([8, 3, 0, 0, 0]))
        file += chunk("acTL", big32(UInt32(frames)) + big32(0))
        for (name, body) in shared { file += chunk(name, body) }
        file += control() + chunk("IDAT", stream)
        for _ in 1..<frames {
            file += control()
            for part in 0..<parts {
                let place = (stream.count * part / parts, stream.count * (part + 1) / parts)
                file += chunk("fdAT", next() + stream[place.0..<place.1])
            }
        }
        return file + chunk("IEND", Data())
    }

    /// The beginning of an APNG of large frames of grey: its header, and some of the first frame's pixels.
    static func apngBeginning(side: UInt32, frames: UInt32) -> Data {
        let header = chunk("IHDR", big32(side) + big32(side) + Data([8, 0, 0, 0, 0]))
        let control = big32(0) + big32(side) + big32(side) + big32(0) + big32(0) + Data([0, 1, 0, 10, 0, 0])
        return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + header
            + chunk("acTL", big32(frames) + big32(0)) + chunk("fcTL", control)
            + chunk("IDAT", Data([0x78, 0x01] + [UInt8](repeating: 0, count: 400))).prefix(200)
    }

    /// One red pixel, and behind its bytes in the same compressed stream some more zeros, 158 for each byte; without
    /// surplus the stream ends there.
    static func png(surplus: Int, isInterlaced: Bool = false, pixels: [UInt8] = [0, 255, 0, 0]) -> Data {
        let header: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, isInterlaced ? 1 : 0]
        // A stored block, then one with the fixed codes: a zero, then "258 times the last one" over and over. Eight
        // of these are 13 bytes; the first begins after 3 + 8 bits.
        var stream = Data(
            [0x78, 0x01, surplus > 0 ? 0 : 1, UInt8(pixels.count), 0, ~UInt8(pixels.count), 0xFF] + pixels)
        let sums = pixels.reduce((1, 0)) { ($0.0 + Int($1), $0.1 + $0.0 + Int($1)) }
        let zero = [true, true, false] + [false, false, true, true, false, false, false, false]
        let match = [true, true, false, false, false, true, false, true] + [Bool](repeating: false, count: 5)
        let lead = bytes(zero + match) { $0 >> 1 | $1 << 7 }
        let period = bytes((0..<8).flatMap { _ in match }) { $0 >> 1 | $1 << 7 }
        stream +=
            surplus > 0 ? lead : [UInt8(sums.1 >> 8), UInt8(sums.1 & 255), UInt8(sums.0 >> 8), UInt8(sums.0 & 255)]
        var bulk = Data(capacity: surplus + 13)
        while bulk.count < surplus { bulk += period }
        return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + chunk("IHDR", Data(header))
            + chunk("IDAT", stream + bulk) + chunk("IEND", Data())
    }

    static func chunk(_ name: String, _ body: Data) -> Data {
        let named = Data(name.utf8) + body
        return big32(UInt32(body.count)) + named + big32(checksum(named))
    }

    private static func big32(_ value: UInt32) -> Data {
        Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) })
    }

    private static func checksum(_ data: Data) -> UInt32 {
        data.withUnsafeBytes {
            UInt32(truncatingIfNeeded: crc32_z(0, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count))
        }
    }

    private static func bytes(_ bits: [Bool], adding add: (UInt8, UInt8) -> UInt8) -> [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            let end = min(start + 8, bits.count)
            return bits[start..<end].reduce(0) { add($0, $1 ? 1 : 0) }
        }
    }
}
