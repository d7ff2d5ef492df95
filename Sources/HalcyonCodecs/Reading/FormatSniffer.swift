import Foundation
import HalcyonImage
import HalcyonSystem

/// Detects formats by their full signatures, never by the name of a file or a `Content-Type` header.
public enum FormatSniffer {
    /// Returns the image format, or nil if the data is anything else.
    public static func format(of data: Data) -> ImageFormat? {
        if case .image(let format) = sniff(data) { format } else { nil }
    }

    /// Returns what the data is. Reads at most its first 4 KiB, of text behind comments and of gzip data its first megabyte,
    /// and of a TIFF the first directory, wherever it stands.
    package static func sniff(_ data: Data) -> SniffResult {
        data.read { reader in
            guard reader.count > 0 else { return .other("empty") }
            if let format = raster(reader) { return .image(format) }
            if reader.matches("ftyp", at: 4) { return isoMedia(reader) }
            if reader.matches([0x1F, 0x8B], at: 0) { return gzip(reader) }
            if let name = other(reader) { return .other(name) }
            if let kind = text(reader) { return kind }
            return .other(reader.count < 12 ? "too short to be an image" : "of an unknown format")
        }
    }

    /// Returns whether the data has the signature of a raster format. Costs a few comparisons, and for a TIFF a search for some
    /// tags among at most 512 in each of 17 directories.
    package static func hasSignature(_ data: Data, of format: ImageFormat) -> Bool {
        data.read { reader in
            if let found = raster(reader) { return found == format }
            return reader.matches("ftyp", at: 4) && isoMedia(reader) == .image(format)
        }
    }

    /// Returns the format of data that only a loader of the system reads; nil if another coder may read it.
    package static func loaderFormat(of data: Data) -> ImageFormat? {
        data.read { reader in
            guard let format = raster(reader), FormatProduct.ofLoaders.contains(format) else { return nil }
            return format
        }
    }

    private static func raster(_ reader: ByteReader) -> ImageFormat? {
        if reader.matches([0xFF, 0xD8, 0xFF], at: 0) { return .jpeg }
        if reader.matches([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) { return .png }
        if reader.matches("GIF87a", at: 0) || reader.matches("GIF89a", at: 0) { return .gif }
        if reader.matches("RIFF", at: 0), reader.matches("WEBP", at: 8) { return .webp }
        if RawSignature.matches(reader) { return .raw }
        if isTIFF(reader) { return .tiff }
        if isJPEGXL(reader) { return .jpegXL }
        if isICO(reader) { return .ico }
        if isBMP(reader) { return .bmp }
        if reader.matches("qoif", at: 0) { return .qoi }
        return LoaderSignature.format(reader)
    }

    /// Returns whether the data is classic TIFF (42) or BigTIFF (43), in either byte order.
    private static func isTIFF(_ reader: ByteReader) -> Bool {
        reader.matches([0x49, 0x49, 42, 0], at: 0) || reader.matches([0x4D, 0x4D, 0, 42], at: 0)
            || reader.matches([0x49, 0x49, 43, 0], at: 0) || reader.matches([0x4D, 0x4D, 0, 43], at: 0)
    }

    /// Returns whether the data is JPEG XL, as a bare codestream or in a container.
    private static func isJPEGXL(_ reader: ByteReader) -> Bool {
        reader.matches([0xFF, 0x0A], at: 0)
            || reader.matches([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], at: 0)
    }

    /// Returns whether the data is an icon or a cursor. Four bytes, three of them zero, are a weak signature, so the count and the
    /// first entry must be plausible too; its reserved byte is 255 in the icons of .NET.
    private static func isICO(_ reader: ByteReader) -> Bool {
        guard reader.matches([0, 0, 1, 0], at: 0) || reader.matches([0, 0, 2, 0], at: 0),
            let count = reader.littleEndian16(4), count > 0,
            let reserved = reader.byte(9), let offset = reader.littleEndian32(18)
        else { return false }
        return (reserved == 0 || reserved == 255) && offset >= 6 + 16 * count
    }

    /// Returns whether the data is a BMP. Many texts begin with "BM", so the info header must also have one of the
    /// sizes that exist.
    private static func isBMP(_ reader: ByteReader) -> Bool {
        guard reader.matches("BM", at: 0), let header = reader.littleEndian32(14) else { return false }
        return [12, 16, 40, 52, 56, 64, 108, 124].contains(header)
    }

    private static let heicBrands: Set<String> = [
        "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "msf1",
    ]

    /// Returns the kind of ISO base media file by its brands; the generic brands are examined last.
    private static func isoMedia(_ reader: ByteReader) -> SniffResult {
        let length = min(max(reader.bigEndian32(0) ?? 0, 12), 256)
        let major = reader.ascii(at: 8, length: 4) ?? ""
        let compatible = stride(from: 16, to: length, by: 4).compactMap { reader.ascii(at: $0, length: 4) }
        let brands = [major] + compatible
        if brands.contains("avif") || brands.contains("avis") { return .image(.avif) }
        if heicBrands.contains(major) { return .image(.heic) }
        if major == "jxl " { return .image(.jpegXL) }
        if major == "crx " { return .image(.raw) }
        if major == "qt  " { return .other("a QuickTime movie") }
        if major == "M4A " || major == "M4B " { return .other("an MP4 audio file") }
        if compatible.contains(where: { ["heic", "heix"].contains($0) }) { return .image(.heic) }
        return .other("an MP4 movie")
    }

    /// Returns the name of another kind of data that has a signature, or nil if none matches.
    private static func other(_ reader: ByteReader) -> String? {
        if reader.matches("%PDF-", at: 0) { return "a PDF document" }
        if reader.matches([0x50, 0x4B, 3, 4], at: 0) { return "a ZIP archive" }
        if reader.matches([0x1A, 0x45, 0xDF, 0xA3], at: 0) { return "a WebM or Matroska movie" }
        if reader.matches("RIFF", at: 0), let kind = reader.ascii(at: 8, length: 4) { return "a RIFF file (\(kind))" }
        if reader.matches("wOFF", at: 0) || reader.matches("wOF2", at: 0) { return "a web font" }
        if reader.matches([0x7F, 0x45, 0x4C, 0x46], at: 0) { return "a program" }
        return nil
    }
}

extension FormatSniffer {
    /// The number of bytes of a text that are examined behind comments, and the maximum number of bytes of these.
    private static let textPrefix = 4096
    private static let maximumComments = 1 << 20

    /// Returns the kind of a text, or nil if the data is not text.
    package static func text(_ reader: ByteReader) -> SniffResult? {
        if let text = utf16(reader) { return kind(of: text) }
        let start = reader.matches([0xEF, 0xBB, 0xBF], at: 0) ? 3 : 0
        let part = reader.part(at: endOfComments(reader, from: start), length: textPrefix)
        let isUTF8 = !declaresEncoding(reader.part(at: start, length: 200))
        guard isText(part, isUTF8: isUTF8) else { return nil }
        // Only ASCII counts.
        return kind(of: String(decoding: part.bytes, as: UTF8.self))
    }

    /// Returns the kind of gzip data: a drawing, if it unpacks to one. Of other data only the first 64 KiB are unpacked.
    private static func gzip(_ reader: ByteReader) -> SniffResult {
        let inflater = Inflater(.gzip, limit: .max)
        var rest = reader.bytes.prefix(maximumComments)
        var text = Data()
        while !rest.isEmpty, text.count < maximumComments {
            inflater.feed(Data(rest.prefix(1 << 16)))
            rest = rest.dropFirst(1 << 16)
            while text.count < maximumComments, let piece = try? inflater.next() {
                text += piece
                let kind = text.read { Self.text($0) }
                if kind == .image(.svg) { return .image(.svg) }
                // Only of a document with long comments the beginning does not tell.
                guard kind == .other("XML") else { return .other("gzip data") }
            }
        }
        return .other("gzip data")
    }

    private static func kind(of text: String) -> SniffResult {
        let text = text.lowercased()
        guard let first = text.unicodeScalars.first(where: { !$0.properties.isWhitespace }) else {
            return .other("blank text")
        }
        switch first {
        case "<": return markup(text)
        case "{", "[": return .other("JSON")
        default: return .other("plain text")
        }
    }

    /// Returns the beginning of a text in UTF-16, which has a byte order mark or begins with a bracket.
    private static func utf16(_ reader: ByteReader) -> String? {
        let marks: [([UInt8], Bool)] = [
            ([0xFF, 0xFE], false), ([0xFE, 0xFF], true), ([0x3C, 0], false), ([0, 0x3C], true),
        ]
        guard let isBig = marks.first(where: { reader.matches($0.0, at: 0) })?.1 else { return nil }
        let units = (0..<min(reader.count, textPrefix) / 2).compactMap { index in
            (isBig ? reader.bigEndian16(index * 2) : reader.littleEndian16(index * 2)).map { UInt16($0) }
        }
        let text = String(decoding: units.drop { $0 == 0xFEFF }, as: UTF16.self)
        return text.unicodeScalars.contains { $0.value < 0x20 && !$0.properties.isWhitespace } ? nil : text
    }

    /// Returns the offset behind an XML declaration and the comments at the beginning.
    private static func endOfComments(_ reader: ByteReader, from start: Int) -> Int {
        let limit = start + maximumComments
        var offset = start
        while offset < limit {
            let next = reader.bytes[offset...].firstIndex { ![0x09, 0x0A, 0x0C, 0x0D, 0x20].contains($0) } ?? offset
            guard
                let mark = [("<?", "?>"), ("<!--", "-->")].first(where: { reader.matches(Array($0.0.utf8), at: next) }),
                let end = reader.part(at: next, length: limit - next).bytes.firstRange(of: mark.1.utf8)
            else { return offset }
            offset = next + end.upperBound
        }
        return offset
    }

    /// Returns whether an XML declaration names an encoding other than UTF-8.
    private static func declaresEncoding(_ reader: ByteReader) -> Bool {
        guard reader.matches("<?xml", at: 0) else { return false }
        let declaration = String(decoding: reader.bytes.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self).lowercased()
        guard let name = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']+)/)?.output.1 else { return false }
        return !["utf-8", "utf8", "us-ascii"].contains(name)
    }

    /// Returns whether the bytes have no control characters but the usual blanks and are well-formed UTF-8, if they have to
    /// be, up to the cut.
    private static func isText(_ reader: ByteReader, isUTF8: Bool) -> Bool {
        let controls = reader.bytes.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D].contains($0) || $0 == 0x7F }
        guard reader.count > 0, !controls else { return false }
        guard isUTF8 else { return true }
        // A cut inside of a character leaves up to three bytes of it.
        return (0...min(3, reader.count - 1)).contains { rest in
            String(validating: reader.bytes.dropLast(rest), as: UTF8.self) != nil
        }
    }

    /// Returns the kind of markup by its root element. An SVG may have declarations and comments before it, and an HTML
    /// page may contain an SVG.
    private static func markup(_ text: String) -> SniffResult {
        var rest = text[...]
        while let open = rest.firstIndex(of: "<") {
            rest = rest[open...]
            if rest.hasPrefix("<!doctype html") { return .other("an HTML page") }
            if rest.hasPrefix("<!doctype svg") { return .image(.svg) }
            if rest.hasPrefix("<!--") {
                guard let end = rest.range(of: "-->") else { break }
                rest = rest[end.upperBound...]
            } else if rest.hasPrefix("<?") || rest.hasPrefix("<!") {
                rest = rest.dropFirst()
            } else {
                return element(rest.dropFirst())
            }
        }
        return .other("XML")
    }

    private static func element(_ text: Substring) -> SniffResult {
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == ":" || $0 == "_" }
        if name == "svg" || name.hasSuffix(":svg") { return .image(.svg) }
        let html: Set<Substring> = [
            "html", "head", "body", "title", "meta", "script", "div", "p", "h1", "style", "table", "center", "a",
        ]
        return .other(html.contains(name) ? "an HTML page" : "XML")
    }
}

/// The kind of data by its first bytes.
package enum SniffResult: Hashable, Sendable {
    /// A known image format, whether or not there is a coder for it.
    case image(ImageFormat)
    /// Another kind of data. The text completes "the data is": `empty`, `an HTML page`.
    case other(String)
}
