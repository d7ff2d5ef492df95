import Foundation
import HalcyonImage
import HalcyonSystem

/// A BMP without its file header, whose height counts the rows of the pixels and those of the mask behind them.
struct ICOBitmap {
    let size: PixelSize
    let bits: Int
    private let header: Int
    private let compression: Int
    /// The length of the masks of channels and of the palette behind the header, in bytes.
    private let tables: Int
    /// Whether the first row is the top one, which a negative height says.
    private let isTopDown: Bool

    private static let (plain, fields) = (0, 3)
    /// Four masks as those of 32 bits that are not declared: blue, green, red, alpha in memory.
    private static let usualMasks = [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        guard let header = reader.littleEndian32(0), [12, 16, 40, 52, 56, 64, 108, 124].contains(header) else {
            throw ICODirectory.damaged("a picture in it is neither PNG nor BMP")
        }
        let isOld = header == 12
        let width = isOld ? reader.littleEndian16(4) : reader.littleEndian32(4)
        let height = isOld ? reader.littleEndian16(6) : reader.littleEndian32(8)
        guard let width, let height, let bits = reader.littleEndian16(isOld ? 10 : 14) else {
            throw ICODirectory.damaged("the header of a picture is cut off")
        }
        let signedHeight = isOld ? height : Int(Int32(truncatingIfNeeded: height))
        let rows = abs(signedHeight) / 2
        isTopDown = signedHeight < 0
        guard (1...65_535).contains(width), (1...65_535).contains(rows) else {
            throw ICODirectory.damaged("a picture in it has no pixels")
        }
        compression = header >= 40 ? reader.littleEndian32(16) ?? 0 : 0
        guard compression == Self.plain || compression == Self.fields, [1, 4, 8, 16, 24, 32].contains(bits) else {
            throw ICODirectory.damaged("a picture of \(bits) bits and compression \(compression) is not read")
        }
        (self.header, self.bits, size) = (header, bits, PixelSize(width, rows))
        let used = header >= 40 ? reader.littleEndian32(32) ?? 0 : 0
        let colors = bits > 8 ? 0 : (1...(1 << bits)).contains(used) ? used : 1 << bits
        let separateMasks = header == 40 && compression == Self.fields ? 12 : 0
        tables = separateMasks + colors * (isOld ? 3 : 4)
    }

    private var rowBytes: Int { (size.width * bits + 31) / 32 * 4 }
    private var maskRowBytes: Int { (size.width + 31) / 32 * 4 }

    /// Returns a BMP of the same pixels for `BMPCoder`: with a file header, half of the height, and the alpha of 32 bits declared.
    private func file(_ reader: ByteReader, hasAlpha: Bool) -> Data {
        var info = [UInt8](reader.part(at: 0, length: header).bytes)
        let rows = Self.little(header == 12 ? Self.half(info, 6, 2) : Self.half(info, 8, 4), header == 12 ? 2 : 4)
        info.replaceSubrange((header == 12 ? 6 : 8)..<(header == 12 ? 6 : 8) + rows.count, with: rows)
        var rest = reader.part(at: header, length: reader.count - header)
        var masks: [UInt8] = []
        if hasAlpha {
            // A header of 56 bytes declares four masks.
            info = Self.little(56, 4) + info.dropFirst(4).prefix(36)
            info.replaceSubrange(16..<20, with: Self.little(Self.fields, 4))
            masks = Self.usualMasks.flatMap { Self.little($0, 4) }
            rest = rest.part(at: tables, length: rest.count)
        }
        let start = 14 + info.count + masks.count + (hasAlpha ? 0 : tables)
        let length = rowBytes * size.height
        var file = Data("BM".utf8)
        file.append(contentsOf: Self.little(start + length, 4) + Self.little(0, 4) + Self.little(start, 4))
        file.append(contentsOf: info + masks)
        file.append(contentsOf: rest.part(at: 0, length: (hasAlpha ? 0 : tables) + length).bytes)
        return file
    }

    /// Returns the pixels, transparent where the mask says so. Alpha that a pixel of 32 bits uses counts alone, as in browsers.
    ///
    /// - Parameter declaredBytes: the length that the directory says: without room for a mask there is none.
    /// - Throws: `CodecError.damaged`, `BitmapError`, `CancellationError`.
    func decode(_ reader: ByteReader, declaredBytes: Int, context: WorkContext) throws -> Bitmap {
        let pixels = reader.part(at: header + tables, length: rowBytes * size.height)
        let hasAlpha = bits == 32 && header >= 40 && compression == Self.plain && Self.usesAlpha(pixels)
        let data = file(reader, hasAlpha: hasAlpha)
        let plan = try DecodePlan(
            info: try BMPCoder().probe(data), options: DecodeOptions(), decoder: BMPCoder())
        let bitmap = try BMPCoder().decode(data, plan: plan, context: context)
        guard bitmap.size == size else { throw ICODirectory.damaged("a picture in it has another size than it says") }
        if hasAlpha { return bitmap }
        let (start, length) = (header + tables + rowBytes * size.height, maskRowBytes * size.height)
        if declaredBytes <= start { return bitmap }
        guard reader.has(length, at: start) else { throw ICODirectory.damaged("the file was cut off") }
        return try masked(bitmap, by: reader.part(at: start, length: length))
    }

    /// Whether a fourth byte is not zero.
    private static func usesAlpha(_ pixels: ByteReader) -> Bool {
        stride(from: 3, to: pixels.count, by: 4).contains { pixels.bytes[$0] != 0 }
    }

    /// Makes the pixels transparent whose bit is set.
    private func masked(_ bitmap: Bitmap, by mask: ByteReader) throws -> Bitmap {
        guard mask.bytes.contains(where: { $0 != 0 }) else { return bitmap }
        return try Bitmap(size: size, isOpaque: false) { bytes in
            bitmap.withPixels { bytes.copyMemory(from: $0) }
            let pixels = bytes.bindMemory(to: UInt32.self)
            for row in 0..<size.height {
                // In the order of the pixels.
                let start = (isTopDown ? row : size.height - 1 - row) * size.width
                for x in 0..<size.width where mask.bytes[row * maskRowBytes + x / 8] >> (7 - x % 8) & 1 == 1 {
                    pixels[start + x] = 0
                }
            }
        }
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// Returns half of a signed number, towards zero.
    private static func half(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        let value = (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
        return (count == 4 ? Int(Int32(truncatingIfNeeded: value)) : value) / 2
    }
}
