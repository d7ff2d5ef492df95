import Foundation
import HalcyonCodecs
import HalcyonImage

/// The header of an XPM, which is the source of an array of strings in C: the first has width, height, the number of colours and
/// that of characters a pixel; then come the colours, and then the rows.
struct XPMHeader: LoaderHeader {
    /// The most colours. The loader looks for their names in a table, which takes the square of their number if they are chosen for it.
    private static let mostColors = 32_768
    /// The most names of one hash value, by which the table would look for each pixel. Names that are not chosen for it have few.
    private static let mostOfOneHash = 64

    let info: ImageInfo
    private let colorCount: Int
    private let characters: Int

    /// - Throws: `CodecError.damaged`, `.limitExceeded`.
    init(_ reader: ByteReader) throws {
        var strings = Strings(reader)
        let values = strings.next().flatMap { reader.ascii(at: $0.lowerBound, length: min($0.count, 200)) }
        let numbers = (values ?? "").split { $0.isWhitespace }.map { Int($0) ?? 0 }
        guard numbers.count >= 4, numbers.prefix(4).allSatisfy({ $0 > 0 && $0 <= Int32.max }), numbers[3] < 32 else {
            throw CodecError.damaged(.xpm, reason: "its header has no size")
        }
        (colorCount, characters) = (numbers[2], numbers[3])
        guard colorCount <= Self.mostColors else {
            throw CodecError.limitExceeded("colors of an XPM", value: colorCount, limit: Self.mostColors)
        }
        var hasAlpha = false
        for _ in 0..<colorCount {
            // Those that have not arrived are missed by the decode.
            guard !hasAlpha, let color = strings.next() else { break }
            let text = reader.part(at: color.lowerBound + characters, length: color.count - characters)
            hasAlpha = ["None", "none", "NONE"].contains { text.firstMatch($0, from: 0) != nil }
        }
        info = ImageInfo(format: .xpm, size: PixelSize(numbers[0], numbers[1]), hasAlpha: hasAlpha)
    }

    /// The loader leaves rows out that are too short, ends a string at a zero, and does not know comments between rows.
    func checkPixels(_ reader: ByteReader) throws {
        var strings = Strings(reader)
        guard strings.next() != nil else { throw damaged("its colors were cut off") }
        var hashes: [UInt32: Int] = [:]
        for _ in 0..<colorCount {
            guard let color = strings.next() else { throw damaged("its colors were cut off") }
            let text = reader.part(at: color.lowerBound, length: color.count)
            guard text.firstIndex(of: 0, from: 0) == nil else { throw damaged("a color has a zero") }
            let hash = Self.hash(text.part(at: 0, length: characters))
            hashes[hash, default: 0] += 1
            guard hashes[hash] ?? 0 <= Self.mostOfOneHash else {
                throw damaged("the names of its colors are not sound")
            }
        }
        for _ in 0..<info.size.height {
            let mark = reader.firstIndex(of: 0x22, from: strings.place)
            guard let row = strings.next() else { throw damaged("its rows were cut off") }
            guard mark == row.lowerBound - 1 else { throw damaged("a comment between its rows has a quotation mark") }
            let text = reader.part(at: row.lowerBound, length: row.count)
            guard text.firstIndex(of: 0, from: 0) == nil else { throw damaged("a row has a zero") }
            guard row.count >= info.size.width * characters else { throw damaged("a row is too short") }
        }
    }

    /// The hash function of GLib's strings.
    private static func hash(_ name: ByteReader) -> UInt32 {
        name.bytes.reduce(5381) { $0 &* 33 &+ UInt32(truncatingIfNeeded: Int8(bitPattern: $1)) }
    }

    /// The loader keeps a colour in less than 100 bytes, of which none has less than six in the file, and the longest string in a
    /// buffer that doubles.
    func workingBytes(of data: Data, at native: PixelSize) -> Int {
        native.bitmapBytes.adding(100, times: min(colorCount, data.count / 6)).adding(2, times: data.count)
    }

    /// The strings of the array, by their places between the quotation marks.
    private struct Strings {
        private let reader: ByteReader
        private(set) var place: Int

        init(_ reader: ByteReader) {
            // Behind the name of the format, in the comment that the file begins with.
            (self.reader, place) = (reader, 6)
            _ = skip(to: 0x7B)
        }

        mutating func next() -> Range<Int>? {
            guard skip(to: 0x22), let end = reader.firstIndex(of: 0x22, from: place) else { return nil }
            defer { place = end + 1 }
            return place..<end
        }

        /// Goes behind the next of these bytes that is in no comment, as the loader does: the byte after a slash is never looked at.
        private mutating func skip(to wanted: Int) -> Bool {
            while let byte = reader.byte(place) {
                place += 1
                if byte == wanted { return true }
                guard byte == 0x2F else { continue }
                guard reader.byte(place) == 0x2A else {
                    place += 1
                    continue
                }
                place = reader.firstMatch("*/", from: place + 1).map { $0 + 2 } ?? reader.count
            }
            return false
        }
    }
}
