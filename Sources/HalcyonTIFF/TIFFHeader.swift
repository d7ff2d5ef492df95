import HalcyonCodecs
import Foundation
import HalcyonImage

/// The header of a TIFF: its pages, read without libtiff.
struct TIFFHeader {
    /// The first page, and the pages that have the same size and orientation.
    private(set) var pages: [TIFFDirectory]
    private(set) var metadataByteCount = 0
    private let profile: Data?

    /// The maximum number of directories that are read. Directories may form a ring, or millions of them may
    /// overlap.
    private static let maximumDirectories = 20_000

    /// - Throws: `CodecError.damaged` if the first page's directory is missing or declares no size.
    init(_ reader: ByteReader) throws {
        guard let fields = TIFFFields(reader), let first = fields.directory(at: fields.firstDirectory) else {
            throw Self.damaged("its directory is cut off")
        }
        let sides = 1...Int(Int32.max)
        guard sides.contains(first.size.width), sides.contains(first.size.height) else {
            throw Self.damaged("its size is zero")
        }
        pages = [first]
        metadataByteCount = first.metadataByteCount
        // The limit on metadata refuses a longer profile.
        profile = first.profile.map { Data(fields.part(at: $0.start, length: min($0.count, 16 << 20)).bytes) }
        var seen: Set<Int> = [first.offset]
        var next = first.next
        while next != 0, seen.count < Self.maximumDirectories, seen.insert(next).inserted {
            guard let page = fields.directory(at: next) else { break }
            next = page.next
            if page.size == first.size, page.orientation == first.orientation, !page.isOfAnotherPage {
                pages.append(page)
            }
        }
    }

    var info: ImageInfo {
        let first = pages[0]
        return ImageInfo(
            format: .tiff, size: first.orientation.applied(to: first.size), frameCount: pages.count,
            loopCount: pages.count > 1 ? 1 : nil, hasAlpha: pages.contains { $0.hasAlpha },
            bitsPerChannel: min(max(first.bits, 1), 16), orientation: first.orientation,
            colorSpace: profile.map { .icc($0.read { ICCProfile.name(of: $0) }) } ?? first.colorSpace)
    }

    var extent: CodedExtent {
        var extent = CodedExtent(largest: pages[0].size, totalPixels: 0)
        for page in pages { extent.add(page.tile ?? page.size, pixels: page.unpackedPixels) }
        return extent
    }

    /// The maximum number of bytes of a strip or a tile of any page.
    var unitBytes: Int { pages.reduce(0) { max($0, $1.unitBytes) } }

    /// Returns the number of bytes that libjpeg keeps in addition; 0 if it delivers rows as they are decoded.
    func jpegBytes(_ reader: ByteReader) -> Int {
        let bytes = pages.reduce(0) { max($0, $1.jpegBytes) }
        return bytes > 0 && Self.hasSeveralScans(reader) ? bytes : 0
    }

    var colorProfile: ColorProfile? {
        let model: ColorModel = [.gray: .gray, .cmyk: .cmyk][pages[0].colorSpace] ?? .rgb
        return profile.map { .icc($0, model) }
    }

    /// Returns whether a JPEG in the file, if there is one, is progressive or has a scan of fewer than three
    /// channels. A JPEG with a single channel counts too, because its only scan looks the same.
    private static func hasSeveralScans(_ reader: ByteReader) -> Bool {
        var offset = 0
        while let mark = reader.firstIndex(of: 0xFF, from: offset) {
            let kind = reader.byte(mark + 1)
            if kind == 0xC2 { return true }
            if kind == 0xDA, reader.bigEndian16(mark + 2) ?? 0 < 12 { return true }
            offset = mark + 1
        }
        return false
    }

    private static func damaged(_ reason: String) -> CodecError { .damaged(.tiff, reason: reason) }
}
