import HalcyonImage

/// A directory of a TIFF structure: of EXIF data, or of a camera's raw file.
package struct ExifDirectory {
    /// The maximum number of entries that are examined. A directory has a few dozen, but a hostile one may claim
    /// 65,535.
    private static let maximumEntries = 512

    private let reader: ByteReader
    package let isLittleEndian: Bool
    /// The offset of the directory.
    package let start: Int

    /// Returns the first directory; nil if the bytes are no TIFF structure.
    package static func first(of reader: ByteReader) -> ExifDirectory? {
        let isLittleEndian = reader.matches("II", at: 0)
        guard isLittleEndian || reader.matches("MM", at: 0) else { return nil }
        let header = ExifDirectory(in: reader, isLittleEndian: isLittleEndian, at: 0)
        guard header.short(2) == 42, let first = header.long(4) else { return nil }
        return ExifDirectory(in: reader, isLittleEndian: isLittleEndian, at: first)
    }

    /// - Parameter reader: the structure, from whose beginning all offsets count.
    package init(in reader: ByteReader, isLittleEndian: Bool, at start: Int) {
        (self.reader, self.isLittleEndian, self.start) = (reader, isLittleEndian, start)
    }

    /// Whether all entries are there.
    package var isWhole: Bool { short(start).map { reader.has($0 * 12, at: start + 2) } ?? false }

    /// The offset of the directory after this one, 0 if there is none; nil if it is not there.
    package var nextOffset: Int? { short(start).flatMap { long(start + 2 + $0 * 12) } }

    /// The directory after this one. It is not followed any further, so that a ring of directories is none.
    var next: ExifDirectory? {
        guard let next = nextOffset, next != 0 else { return nil }
        return ExifDirectory(in: reader, isLittleEndian: isLittleEndian, at: next)
    }

    /// Returns the orientation; nil if there is none, or no such one.
    package var orientation: Orientation? {
        let tag = 0x0112
        // In the place of more than one number there may be an offset.
        guard place(of: tag)?.count == 1 else { return nil }
        return value(of: tag).flatMap { Orientation(rawValue: $0) }
    }

    /// Returns the integer of a tag; nil if the directory does not have it.
    package func value(of wanted: Int) -> Int? {
        // A short or a long number by the standard; writers also use bytes, signed numbers and undefined bytes.
        entry(of: wanted).flatMap { number(at: $0 + 8, type: short($0 + 2)) }
    }

    /// Returns the integers of a tag, `maximum` of them at most; none if the directory does not have it, or if one of them
    /// lies outside of the bytes.
    package func values(of wanted: Int, atMost maximum: Int) -> [Int] {
        guard let place = place(of: wanted) else { return [] }
        let values = (0..<min(place.count, maximum)).map {
            number(at: place.offset + $0 * place.width, type: place.type)
        }
        return values.contains(nil) ? [] : values.compactMap { $0 }
    }

    /// Returns the number of a tag's values, and the place of the first one; nil if the directory does not have it.
    package func place(of wanted: Int) -> (count: Int, offset: Int, type: Int, width: Int)? {
        guard let entry = entry(of: wanted), let type = short(entry + 2), let count = long(entry + 4) else {
            return nil
        }
        let width = [1: 1, 2: 1, 3: 2, 4: 4, 6: 1, 7: 1, 8: 2, 9: 4, 13: 4][type] ?? 8
        let offset = count * width <= 4 ? entry + 8 : long(entry + 8)
        return offset.map { (count, $0, type, width) }
    }

    /// Returns the offset of a tag's entry.
    private func entry(of wanted: Int) -> Int? {
        guard let count = short(start) else { return nil }
        for index in 0..<min(count, Self.maximumEntries) {
            let entry = start + 2 + index * 12
            guard let tag = short(entry) else { return nil }
            if tag == wanted { return entry }
        }
        return nil
    }

    private func number(at offset: Int, type: Int?) -> Int? {
        switch type {
        case 1, 6, 7: reader.byte(offset)
        case 3, 8: short(offset)
        case 4, 9, 13: long(offset)
        default: nil
        }
    }

    private func short(_ offset: Int) -> Int? {
        isLittleEndian ? reader.littleEndian16(offset) : reader.bigEndian16(offset)
    }

    private func long(_ offset: Int) -> Int? {
        isLittleEndian ? reader.littleEndian32(offset) : reader.bigEndian32(offset)
    }
}
