/// The markers of a JPEG behind its first one, up to that of its end, without those that stand within coded data.
///
/// Some cameras append a video or other pictures, which are full of bytes that look like markers. So are profiles and previews, but these
/// are in segments with a length, which are skipped.
package struct JPEGMarkers: Sequence, IteratorProtocol {
    private static let end = 0xD9

    private let reader: ByteReader
    private var position: Int? = 2
    /// The place of the marker that was returned last.
    private var last = 0

    package init(_ reader: ByteReader) { self.reader = reader }

    package mutating func next() -> Int? {
        while let start = position, let found = reader.firstIndex(of: 0xFF, from: start),
            let marker = reader.byte(found + 1)
        {
            last = found
            switch marker {
            case 0xFF: position = found + 1
            // In coded data, a zero or a restart marker follows each 255. These have no length.
            case 0, 0xD0...0xD7: position = found + 2
            case 1, 0xD8:
                position = found + 2
                return marker
            case Self.end:
                position = nil
                return marker
            default:
                position = found + 2 + Swift.max(2, reader.bigEndian16(found + 2) ?? 2)
                return marker
            }
        }
        return nil
    }

    /// Returns the place behind the picture, where a file may have more; nil if the picture has no end.
    static func end(of reader: ByteReader) -> Int? {
        var markers = JPEGMarkers(reader)
        while let marker = markers.next() {
            if marker == end { return markers.last + 2 }
        }
        return nil
    }

    /// Whether the file has one frame of baseline or progressive Huffman coding, and nothing up to its end but tables, intervals, scans,
    /// APP segments and comments, and defines each quantization table once.
    ///
    /// A reader that does not know a marker skips its segment or reads on inside of it, where another picture may be. Of two tables with
    /// the same number, some take the first and others the last.
    package var areKnownToAll: Bool {
        var (frames, tables, markers) = (0, Set<Int>(), self)
        while let marker = markers.next() {
            switch marker {
            case Self.end: return frames == 1
            case 0xC0, 0xC1, 0xC2: frames += 1
            case 0xDB:
                for table in markers.quantizationTables where !tables.insert(table).inserted { return false }
            case 0xC4, 0xDA, 0xDD, 0xE0...0xEF, 0xFE: break
            default: return false
            }
        }
        return false
    }

    /// The numbers of the tables in the present segment: each has a byte for its precision and its number, and 64 values.
    private var quantizationTables: [Int] {
        let body = reader.part(at: last + 4, length: (reader.bigEndian16(last + 2) ?? 2) - 2)
        var (numbers, offset) = ([Int](), 0)
        while let kind = body.byte(offset) {
            numbers.append(kind & 15)
            offset += kind >> 4 == 0 ? 65 : 129
        }
        return numbers
    }
}
