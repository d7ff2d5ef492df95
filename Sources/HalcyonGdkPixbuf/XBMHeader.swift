import HalcyonCodecs
import HalcyonImage

/// The header of an XBM, which is source of C: lines that define names that end in `width` and `height`, before an array of bits.
struct XBMHeader: LoaderHeader {
    /// The bytes of the file before the array that are looked at.
    private static let headerBytes = 4096

    let info: ImageInfo

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        let end = reader.part(at: 0, length: Self.headerBytes).firstMatch("bits[]", from: 0) ?? 0
        let text = String(decoding: reader.part(at: 0, length: end).bytes, as: UTF8.self)
        var size = PixelSize(0, 0)
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split { $0.isWhitespace }
            guard words.count >= 3, words[0] == "#define", let value = Int(words[2]), value <= Int32.max else {
                continue
            }
            switch words[1].split(separator: "_").last {
            case "width": size.width = value
            case "height": size.height = value
            default: break
            }
        }
        guard size.width > 0, size.height > 0 else {
            throw CodecError.damaged(.xbm, reason: "its header has no size")
        }
        info = ImageInfo(format: .xbm, size: size, colorSpace: .gray)
    }
}
