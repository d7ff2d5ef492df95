import HalcyonCodecs
import HalcyonImage

/// The directory of a TIFF, which describes one page.
struct TIFFDirectory {
    let offset: Int
    /// The offset of the next page's directory, 0 if there is none.
    var next = 0
    private(set) var metadataByteCount = 0
    private(set) var profile: (start: Int, count: Int)?
    private var values: [Tag: Int] = [:]

    private enum Tag: Int {
        case subfile = 254
        case width = 256
        case height = 257
        case bits = 258
        case compression = 259
        case photometric = 262
        case orientation = 274
        case samples = 277
        case rowsPerStrip = 278
        case tileWidth = 322
        case tileHeight = 323
        case extraSamples = 338
        case sampleFormat = 339
    }

    init(offset: Int) { self.offset = offset }

    /// Sets a tag.
    ///
    /// - Parameters:
    ///   - value: the first of `count` values; nil if it lies outside of the file.
    ///   - start: the offset of the values in the file.
    mutating func set(_ tag: Int, to value: Int?, count: Int, start: Int) {
        // XMP, IPTC, Photoshop's blocks and the ICC profile consist of single bytes.
        if [700, 33_723, 34_377, 34_675].contains(tag) {
            metadataByteCount = metadataByteCount.addingReportingOverflow(count).partialValue
            if metadataByteCount < 0 { metadataByteCount = .max }
            if tag == 34_675, profile == nil { profile = (start, count) }
        }
        guard let tag = Tag(rawValue: tag), let value, values[tag] == nil else { return }
        values[tag] = value
    }

    /// The stored size, empty if the directory does not declare one.
    var size: PixelSize { PixelSize(values[.width] ?? 0, values[.height] ?? 0) }

    /// The size of a tile, which may be larger than the image; nil for strips, which are never higher than the
    /// image.
    var tile: PixelSize? {
        guard let width = values[.tileWidth], let height = values[.tileHeight] else { return nil }
        return PixelSize(max(1, width), max(1, height))
    }

    /// The number of pixels of all tiles, or of the image if it has strips.
    var unpackedPixels: Int {
        guard let tile else { return size.area ?? .max }
        let columns = size.width / tile.width + (size.width % tile.width > 0 ? 1 : 0)
        let rows = size.height / tile.height + (size.height % tile.height > 0 ? 1 : 0)
        return 0.adding(columns, times: 0.adding(rows, times: tile.area ?? .max))
    }

    /// The size of a strip or a tile.
    private var unit: PixelSize {
        tile ?? PixelSize(size.width, min(size.height, max(1, values[.rowsPerStrip] ?? size.height)))
    }

    /// The number of bytes of a stored strip or tile with all its channels. libtiff allocates four channels even if
    /// there are fewer.
    var unitBytes: Int {
        let samples = max(4, values[.samples] ?? 1)
        return 0.adding(samples, times: 0.adding((max(bits, 1) + 7) / 8, times: unit.area ?? .max))
    }

    /// The number of bytes that libjpeg keeps of a strip or tile with several scans: two for each of four channels.
    /// A strip may be higher than it declares, up to the maximum height of a JPEG or the 100 MiB that libtiff
    /// allows.
    var jpegBytes: Int {
        guard values[.compression] == 6 || values[.compression] == 7 else { return 0 }
        return min(100 << 20, 0.adding(8, times: 0.adding(65_536, times: unit.width)))
    }

    /// The number of bits of a channel; 1 is the format's default.
    var bits: Int { values[.bits] ?? 1 }

    var orientation: Orientation { Orientation(rawValue: values[.orientation] ?? 1) ?? .up }

    /// Whether a grey or RGB page declares its first extra channel as alpha, premultiplied or not.
    var hasAlpha: Bool {
        let colors = [0: 1, 1: 1, 2: 3][values[.photometric] ?? -1]
        guard let colors, let samples = values[.samples], samples > colors else { return false }
        return [1, 2].contains(values[.extraSamples] ?? 0)
    }

    /// Whether colours are multiplied by that alpha.
    var isMultiplied: Bool { hasAlpha && values[.extraSamples] == 1 }

    /// Whether the page is grey or RGB of more than 8 bits, of numbers that are read as they are.
    var isDeep: Bool {
        guard bits > 8, let kind = values[.photometric], (0...2).contains(kind) else { return false }
        return [1, 2, 3, 4].contains(values[.sampleFormat] ?? 1)
    }

    /// Whether its channels are floating-point numbers.
    var isFloat: Bool { values[.sampleFormat] == 3 }

    var hasPalette: Bool { values[.photometric] == 3 }

    /// Whether it is no page, but a smaller copy of another one, or its mask.
    var isOfAnotherPage: Bool { (values[.subfile] ?? 0) & 5 != 0 }

    var colorSpace: ColorSpace {
        switch values[.photometric] {
        case 0, 1: .gray
        case 5: .cmyk
        default: .sRGB
        }
    }
}

/// A reader of the numbers of a TIFF, in the byte order and the width of offsets that its first bytes declare.
struct TIFFFields {
    private let reader: ByteReader
    private let isLittleEndian: Bool
    /// Whether offsets and counts have 8 bytes, as in BigTIFF.
    private let isBig: Bool
    /// The offset of the first directory.
    private(set) var firstDirectory: Int

    /// The maximum number of entries that are read. Tags are sorted, and those that are needed come early; a
    /// hostile directory may claim 65,535 entries.
    private static let maximumEntries = 128

    init?(_ reader: ByteReader) {
        self.reader = reader
        isLittleEndian = reader.matches("II", at: 0)
        let magic = isLittleEndian ? reader.littleEndian16(2) : reader.bigEndian16(2)
        isBig = magic == 43
        let short = isLittleEndian ? reader.littleEndian32(4) : reader.bigEndian32(4)
        guard let short else { return nil }
        firstDirectory = short
        if isBig {
            guard let offset = number(8, bytes: 8) else { return nil }
            firstDirectory = offset
        }
    }

    /// Returns the directory at an offset, or nil if it is truncated.
    func directory(at offset: Int) -> TIFFDirectory? {
        let (countBytes, entryBytes) = isBig ? (8, 20) : (2, 12)
        guard reader.has(countBytes, at: offset), let count = number(offset, bytes: countBytes), count > 0 else {
            return nil
        }
        let entries = offset + countBytes
        let (length, overflow) = count.multipliedReportingOverflow(by: entryBytes)
        guard !overflow, reader.has(length, at: entries) else { return nil }
        var directory = TIFFDirectory(offset: offset)
        for index in 0..<min(count, Self.maximumEntries) {
            readEntry(at: entries + index * entryBytes, into: &directory)
        }
        directory.next = number(entries + length, bytes: isBig ? 8 : 4) ?? 0
        return directory
    }

    private func readEntry(at offset: Int, into directory: inout TIFFDirectory) {
        guard let tag = number(offset, bytes: 2), let kind = number(offset + 2, bytes: 2),
            let count = number(offset + 4, bytes: isBig ? 8 : 4), count > 0
        else { return }
        let place = offset + (isBig ? 12 : 8)
        let inline = isBig ? 8 : 4
        let width = [1: 1, 2: 1, 3: 2, 4: 4, 6: 1, 7: 1, 8: 2, 9: 4, 13: 4, 16: 8][kind] ?? 8
        let start = count <= inline / width ? place : number(place, bytes: inline) ?? -1
        directory.set(tag, to: number(start, bytes: width), count: count, start: start)
    }

    /// Returns the number at an offset; nil outside of the file, negative beyond 2^63.
    private func number(_ offset: Int, bytes: Int) -> Int? {
        switch bytes {
        case 1: return reader.byte(offset)
        case 2: return isLittleEndian ? reader.littleEndian16(offset) : reader.bigEndian16(offset)
        case 4: return isLittleEndian ? reader.littleEndian32(offset) : reader.bigEndian32(offset)
        default:
            guard reader.has(8, at: offset), let first = number(offset, bytes: 4),
                let second = number(offset + 4, bytes: 4)
            else { return nil }
            return isLittleEndian ? second << 32 | first : first << 32 | second
        }
    }

    func part(at offset: Int, length: Int) -> ByteReader { reader.part(at: offset, length: length) }
}
