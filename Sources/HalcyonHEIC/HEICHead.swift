import Foundation
import HalcyonCodecs

/// The description of a HEIC that has not arrived as a whole, in a form that libheif parses: it refuses a file whose items lie
/// beyond the end, before it says even a size.
enum HEICHead {
    /// Returns the bytes up to the end of the description, in which the data of all items is the file's first byte; nil if the
    /// description is not there, or its table of places cannot be read. The pixels of such a file cannot be decoded.
    static func file(_ reader: ByteReader) -> Data? {
        let meta = ISOBox.ofFile(reader).first { $0.isNamed("meta") }
        guard let meta, !meta.isCut else { return nil }
        let places = ISOBox.all(in: meta.body, from: 4).filter { $0.isNamed("iloc") }
        guard places.count == 1, let table = places.first?.body, let start = reader.bytes.baseAddress,
            let place = table.bytes.baseAddress
        else { return nil }
        var head = Data(reader.part(at: 0, length: meta.end).bytes)
        return replacePlaces(table, at: place - start, in: &head) ? head : nil
    }

    /// - Parameter start: the offset of the table in the head.
    /// - Returns: whether all of the table was read.
    private static func replacePlaces(_ table: ByteReader, at start: Int, in head: inout Data) -> Bool {
        guard let version = table.byte(0), version < 3, let widths = table.bigEndian16(4),
            let count = version < 2 ? table.bigEndian16(6) : table.bigEndian32(6)
        else { return false }
        let (offsetWidth, lengthWidth, baseWidth) = (widths >> 12, widths >> 8 & 15, widths >> 4 & 15)
        let indexWidth = version > 0 ? widths & 15 : 0
        guard [offsetWidth, lengthWidth, baseWidth, indexWidth].allSatisfy({ [0, 4, 8].contains($0) }), lengthWidth > 0
        else { return false }
        var offset = version < 2 ? 8 : 10
        for _ in 0..<count {
            offset += version < 2 ? 2 : 4
            // The data of some items lies in the description itself, and stays there.
            let method = version > 0 ? (table.bigEndian16(offset) ?? 0) & 15 : 0
            offset += version > 0 ? 4 : 2
            guard let extents = table.bigEndian16(offset + baseWidth),
                table.has(baseWidth + 2 + extents * (indexWidth + offsetWidth + lengthWidth), at: offset)
            else { return false }
            if method == 0 { replace(start + offset, baseWidth, by: 0, in: &head) }
            offset += baseWidth + 2
            for _ in 0..<extents {
                offset += indexWidth
                if method == 0 {
                    replace(start + offset, offsetWidth, by: 0, in: &head)
                    replace(start + offset + offsetWidth, lengthWidth, by: 1, in: &head)
                }
                offset += offsetWidth + lengthWidth
            }
        }
        return true
    }

    private static func replace(_ offset: Int, _ width: Int, by value: UInt8, in head: inout Data) {
        for index in 0..<width { head[offset + index] = index == width - 1 ? value : 0 }
    }
}
