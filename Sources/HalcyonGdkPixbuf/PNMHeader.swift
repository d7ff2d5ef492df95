import HalcyonCodecs
import HalcyonImage

/// The header of a PNM: a kind from 1 to 6, and width, height and, but for bits, the largest value as decimal numbers between
/// spaces and comments.
struct PNMHeader: LoaderHeader {
    let info: ImageInfo

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        var numbers = Numbers(reader, at: 2)
        let hasBits = reader.byte(1) == 0x31 || reader.byte(1) == 0x34
        let isColored = reader.byte(1) == 0x33 || reader.byte(1) == 0x36
        guard let width = numbers.next(), let height = numbers.next(), let most = hasBits ? 1 : numbers.next() else {
            throw CodecError.damaged(.pnm, reason: "its header has no size")
        }
        guard width > 0, height > 0, (1...65_535).contains(most) else {
            throw CodecError.damaged(.pnm, reason: "its header says \(width) x \(height) pixels of up to \(most)")
        }
        info = ImageInfo(
            format: .pnm, size: PixelSize(width, height), bitsPerChannel: most > 255 ? 16 : 8,
            colorSpace: isColored ? .sRGB : .gray)
    }

    private struct Numbers {
        private let reader: ByteReader
        private var place: Int

        init(_ reader: ByteReader, at place: Int) {
            (self.reader, self.place) = (reader, place)
        }

        /// Returns the next number, which ends before the data does; nil if there is none of at most ten digits.
        mutating func next() -> Int? {
            while let byte = reader.byte(place), byte == 0x20 || (0x09...0x0D).contains(byte) || byte == 0x23 {
                if byte == 0x23 { place = reader.firstIndex(of: 0x0A, from: place) ?? reader.count }
                place += 1
            }
            let start = place
            while let byte = reader.byte(place), (0x30...0x39).contains(byte), place - start < 11 { place += 1 }
            guard place - start <= 10, reader.byte(place) != nil else { return nil }
            return reader.ascii(at: start, length: place - start).flatMap { Int($0) }
        }
    }
}
