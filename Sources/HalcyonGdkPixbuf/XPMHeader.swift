import Foundation
import HalcyonCodecs
import HalcyonImage

/// The header of an XPM, which is the source of an array of strings in C: the first has width, height, the number of colours and
/// that of characters a pixel; then come the colours, and then the rows.
struct XPMHeader: LoaderHeader {
    let info: ImageInfo
    private let colorCount: Int
    private let characters: Int

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        var strings = Strings(reader)
        let values = strings.next().flatMap { reader.ascii(at: $0.lowerBound, length: min($0.count, 200)) }
        let numbers = (values ?? "").split { $0.isWhitespace }.map { Int($0) ?? 0 }
        guard numbers.count >= 4, numbers.prefix(4).allSatisfy({ $0 > 0 && $0 <= Int32.max }), numbers[3] < 32 else {
            throw CodecError.damaged(.xpm, reason: "its header has no size")
        }
        (colorCount, characters) = (numbers[2], numbers[3])
        var hasAlpha = false
        for _ in 0..<colorCount {
            // Those that have not arrived are missed by the decode.
            guard !hasAlpha, let color = strings.next() else { break }
            let text = reader.part(at: color.lowerBound + characters, length: color.count - characters)
            hasAlpha = ["None", "none", "NONE"].contains { text.firstMatch($0, from: 0) != nil }
        }
        info = ImageInfo(format: .xpm, size: PixelSize(numbers[0], numbers[1]), hasAlpha: hasAlpha)
    }

    /// The loader leaves rows out that are too short.
    func checkPixels(_ reader: ByteReader) throws {
        var strings = Strings(reader)
        for _ in 0...colorCount {
            guard strings.next() != nil else { throw damaged("its colors were cut off") }
        }
        for _ in 0..<info.size.height {
            guard let row = strings.next() else { throw damaged("its rows were cut off") }
            guard row.count >= info.size.width * characters else { throw damaged("a row is too short") }
        }
    }

    /// The loader keeps a colour in less than 100 bytes, of which none has less than six in the file, and the longest string in a
    /// buffer that doubles.
    func workingBytes(of data: Data, at native: PixelSize) -> Int {
        native.bitmapBytes.adding(100, times: min(colorCount, data.count / 6)).adding(2, times: data.count)
    }

    /// The strings of the array, by their places between the quotation marks.
    private struct Strings {
        private let reader: ByteReader
        private var place: Int

        init(_ reader: ByteReader) {
            self.reader = reader
            place = reader.firstIndex(of: 0x7B, from: 0) ?? reader.count
        }

        mutating func next() -> Range<Int>? {
            while let byte = reader.byte(place), byte != 0x22 {
                if reader.matches("/*", at: place) {
                    place = reader.firstMatch("*/", from: place + 2).map { $0 + 1 } ?? reader.count
                }
                place += 1
            }
            guard let end = reader.firstIndex(of: 0x22, from: place + 1) else { return nil }
            defer { place = end + 1 }
            return place + 1..<end
        }
    }
}
