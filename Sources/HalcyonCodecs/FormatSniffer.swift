import Foundation
import HalcyonImage

/// Detects formats by their full signatures, never by the name of a file or a `Content-Type` header.
public enum FormatSniffer {
    /// Returns the image format, or nil if the data is anything else.
    public static func format(of data: Data) -> ImageFormat? {
        if case .image(let format) = sniff(data) { format } else { nil }
    }

    /// Returns what the data is. Reads at most its first 4 KiB.
    public static func sniff(_ data: Data) -> SniffResult {
        data.read { reader in
            guard reader.count > 0 else { return .other("empty") }
            if let format = raster(reader) { return .image(format) }
            if reader.matches("ftyp", at: 4) { return isoMedia(reader) }
            if let name = other(reader) { return .other(name) }
            if let kind = text(reader) { return kind }
            return .other(reader.count < 12 ? "too short to be an image" : "of an unknown format")
        }
    }

    /// Returns whether the data has the signature of a raster format. Costs a few comparisons, whatever the data is.
    static func hasSignature(_ data: Data, of format: ImageFormat) -> Bool {
        data.read { reader in
            if let found = raster(reader) { return found == format }
            return reader.matches("ftyp", at: 4) && isoMedia(reader) == .image(format)
        }
    }

    private static func raster(_ reader: ByteReader) -> ImageFormat? {
        if reader.matches([0xFF, 0xD8, 0xFF], at: 0) { return .jpeg }
        if reader.matches([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) { return .png }
        if reader.matches("GIF87a", at: 0) || reader.matches("GIF89a", at: 0) { return .gif }
        if reader.matches("RIFF", at: 0), reader.matches("WEBP", at: 8) { return .webp }
        if isTIFF(reader) { return .tiff }
        if isJPEGXL(reader) { return .jpegXL }
        if isICO(reader) { return .ico }
        if isBMP(reader) { return .bmp }
        return nil
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

    /// Returns whether the data is an ICO. Four bytes, three of them zero, are a weak signature, so the count and the
    /// first entry must be plausible too.
    private static func isICO(_ reader: ByteReader) -> Bool {
        guard reader.matches([0, 0, 1, 0], at: 0), let count = reader.littleEndian16(4), count > 0 else { return false }
        guard let reserved = reader.byte(9), let offset = reader.littleEndian32(18) else { return false }
        return reserved == 0 && offset >= 6 + 16 * count
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
        if major == "crx " { return .other("a camera raw file") }
        if major == "qt  " { return .other("a QuickTime movie") }
        if major == "M4A " || major == "M4B " { return .other("an MP4 audio file") }
        if compatible.contains(where: { ["heic", "heix"].contains($0) }) { return .image(.heic) }
        return .other("an MP4 movie")
    }

    /// Returns the name of another kind of data that has a signature, or nil if none matches.
    private static func other(_ reader: ByteReader) -> String? {
        if reader.matches("%PDF-", at: 0) { return "a PDF document" }
        if reader.matches([0x1F, 0x8B], at: 0) { return "gzip data" }
        if reader.matches([0x50, 0x4B, 3, 4], at: 0) { return "a ZIP archive" }
        if reader.matches([0x1A, 0x45, 0xDF, 0xA3], at: 0) { return "a WebM or Matroska movie" }
        if reader.matches("RIFF", at: 0), let kind = reader.ascii(at: 8, length: 4) { return "a RIFF file (\(kind))" }
        if reader.matches("wOFF", at: 0) || reader.matches("wOF2", at: 0) { return "a web font" }
        if reader.matches([0x7F, 0x45, 0x4C, 0x46], at: 0) { return "a program" }
        return nil
    }
}
