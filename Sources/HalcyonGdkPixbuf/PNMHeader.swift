import HalcyonCodecs
import HalcyonImage

/// The header of a PNM: a kind from 1 to 6, and width, height and, but for bits, the largest value as decimal numbers between
/// spaces and comments.
struct PNMHeader: LoaderHeader {
    let info: ImageInfo

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        var numbers = PNMNumbers(reader)
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
}
