import HalcyonImage

/// The signatures of the formats that are decoded by the loaders of the system (`FormatProduct.ofLoaders`).
///
/// They are asked for last. That of TGA is a whole header that makes sense, since the format has no signature.
enum LoaderSignature {
    /// The number of bytes of a text that are looked at.
    private static let textPrefix = 4096

    static func format(_ reader: ByteReader) -> ImageFormat? {
        if isPNM(reader) { return .pnm }
        if reader.matches("/* XPM */", at: 0) { return .xpm }
        if isXBM(reader) { return .xbm }
        if reader.matches("icns", at: 0), let length = reader.bigEndian32(4), length >= 8 { return .icns }
        if reader.matches("RIFF", at: 0), reader.matches("ACON", at: 8) { return .ani }
        if isJPEG2000(reader) { return .jpeg2000 }
        return isTGA(reader) ? .tga : nil
    }

    /// Returns whether the data is the number of a kind and the numbers of its header. Prose that begins like it has other words.
    private static func isPNM(_ reader: ByteReader) -> Bool {
        guard reader.byte(0) == 0x50, let kind = reader.byte(1), (0x31...0x36).contains(kind),
            let space = reader.byte(2), PNMNumbers.isSpace(space) || space == 0x23
        else { return false }
        var numbers = PNMNumbers(reader.part(at: 0, length: textPrefix))
        let count = kind == 0x31 || kind == 0x34 ? 2 : 3
        return (0..<count).allSatisfy { _ in numbers.next() != nil }
    }

    /// Returns whether the data is C that defines a width and the bits of a bitmap. Other headers in C begin like it; they declare
    /// what is defined elsewhere.
    private static func isXBM(_ reader: ByteReader) -> Bool {
        guard reader.matches("#define ", at: 0) else { return false }
        let part = reader.part(at: 0, length: textPrefix)
        return part.firstMatch("width ", from: 8) != nil && part.firstMatch("height ", from: 8) != nil
            && part.firstMatch("bits[]", from: 8).flatMap {
                part.part(at: 0, length: $0).firstMatch("static ", from: 8)
            } != nil
    }

    /// Returns whether the data is JPEG 2000, in a container or as a bare codestream.
    private static func isJPEG2000(_ reader: ByteReader) -> Bool {
        reader.matches([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], at: 0)
            || reader.matches([0xFF, 0x4F, 0xFF, 0x51], at: 0)
    }

    /// Returns whether the data begins with a header of TGA whose fields fit to each other.
    private static func isTGA(_ reader: ByteReader) -> Bool {
        guard let hasPalette = reader.byte(1), let kind = reader.byte(2), hasPalette <= 1,
            let first = reader.littleEndian16(3), let count = reader.littleEndian16(5), let entryBits = reader.byte(7),
            let width = reader.littleEndian16(12), let height = reader.littleEndian16(14),
            let depth = reader.byte(16), let flags = reader.byte(17), width > 0, height > 0, flags & 0xC0 == 0
        else { return false }
        let isPaletteRight =
            hasPalette == 1
            ? count > 0 && [15, 16, 24, 32].contains(entryBits)
            : first == 0 && count == 0 && entryBits == 0 && kind & 7 != 1
        return switch kind {
        case 1, 9: isPaletteRight && depth == 8
        case 2, 10: isPaletteRight && [15, 16, 24, 32].contains(depth)
        case 3, 11: isPaletteRight && (depth == 8 || depth == 16)
        default: false
        }
    }
}

/// The numbers in the header of a PNM, between spaces and comments.
package struct PNMNumbers {
    private let reader: ByteReader
    private var place = 2

    package init(_ reader: ByteReader) {
        self.reader = reader
    }

    /// Returns the next number, which ends before the data does; nil if there is none of at most ten digits.
    package mutating func next() -> Int? {
        while let byte = reader.byte(place), Self.isSpace(byte) || byte == 0x23 {
            if byte == 0x23 { place = reader.firstIndex(of: 0x0A, from: place) ?? reader.count }
            place += 1
        }
        let start = place
        while let byte = reader.byte(place), (0x30...0x39).contains(byte), place - start < 11 { place += 1 }
        guard place - start <= 10, let end = reader.byte(place), Self.isSpace(end) || end == 0x23 else { return nil }
        return reader.ascii(at: start, length: place - start).flatMap { Int($0) }
    }

    static func isSpace(_ byte: Int) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
