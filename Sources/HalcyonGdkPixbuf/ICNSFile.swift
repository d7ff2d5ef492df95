import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// The pictures of an ICNS: PNGs, which Halcyon's own coder reads, and the older ones of 16, 32, 48 and 128 pixels a side, whose
/// red, green, blue and mask are elements of the file. Those that are JPEG 2000 are left out.
///
/// The image has the size of the largest picture, as that of an ICO has.
struct ICNSFile: LoadedPicture {
    private struct Entry {
        let size: PixelSize
        /// The place of its bytes, without the name and the length of the element.
        let range: Range<Int>
        /// The name of the element and the place of the mask; nil for a PNG.
        let planes: (name: [UInt8], maskName: [UInt8], mask: Range<Int>)?
        var hasAlpha = true
    }

    /// The older kinds: the name of the colours, that of the mask, and the length of a side.
    private static let planes: [(name: String, mask: String, side: Int)] = [
        ("is32", "s8mk", 16), ("il32", "l8mk", 32), ("ih32", "h8mk", 48), ("it32", "t8mk", 128),
    ]
    /// The most elements that are looked at. A file of the present tools has some twenty.
    private static let mostElements = 256

    let info: ImageInfo
    private let entries: [Entry]

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        guard let length = reader.bigEndian32(4), length <= reader.count else {
            throw Self.damaged("the file was cut off")
        }
        let elements = try Self.elements(reader.part(at: 0, length: length))
        var entries: [Entry] = elements.compactMap { Self.png(reader, at: $0.range) }
        for (name, maskName, side) in Self.planes {
            guard let colors = elements.last(where: { $0.name == name })?.range,
                let mask = elements.last(where: { $0.name == maskName })?.range, mask.count == side * side
            else { continue }
            entries.append(
                Entry(
                    size: PixelSize(side, side), range: colors,
                    planes: (name: Array(name.utf8), maskName: Array(maskName.utf8), mask: mask)))
        }
        entries.sort { ($0.size.area ?? 0) < ($1.size.area ?? 0) }
        guard let largest = entries.last else { throw Self.damaged("none of its elements is a picture that is read") }
        self.entries = entries
        info = ImageInfo(format: .icns, size: largest.size, hasAlpha: entries.contains(where: \.hasAlpha))
    }

    private static func elements(_ reader: ByteReader) throws -> [(name: String, range: Range<Int>)] {
        var (elements, place) = ([(name: String, range: Range<Int>)](), 8)
        while reader.has(8, at: place), elements.count < mostElements {
            guard let length = reader.bigEndian32(place + 4), length >= 8, reader.has(length, at: place) else {
                throw damaged("an element reaches beyond the file")
            }
            elements.append((reader.ascii(at: place, length: 4) ?? "", place + 8..<place + length))
            place += length
        }
        return elements
    }

    private static func png(_ reader: ByteReader, at range: Range<Int>) -> Entry? {
        guard reader.matches([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: range.lowerBound) else { return nil }
        // A picture of another shape would be shown stretched where a small one is asked for.
        guard let info = IconPNG.info(of: reader.part(at: range.lowerBound, length: range.count)),
            info.size.width == info.size.height
        else { return nil }
        return Entry(size: info.size, range: range, planes: nil, hasAlpha: info.hasAlpha)
    }

    private static func damaged(_ reason: String) -> CodecError { .damaged(.icns, reason: reason) }

    func size(atLeast size: PixelSize) -> PixelSize {
        entries.first { $0.size.width >= size.width && $0.size.height >= size.height }?.size ?? info.size
    }

    /// The last of the pictures of this size.
    private func entry(of size: PixelSize) -> Entry? { entries.last { $0.size == size } }

    func workingBytes(of data: Data, at native: PixelSize) -> Int {
        guard let entry = entry(of: native) else { return 0 }
        guard entry.planes == nil else { return entry.range.count.adding(3, times: native.bitmapBytes) }
        return IconPNG(bytes(entry.range, data)).workingBytes ?? native.bitmapBytes
    }

    private func bytes(_ range: Range<Int>, _ data: Data) -> Data {
        data.dropFirst(range.lowerBound).prefix(range.count)
    }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        guard let entry = entry(of: plan.nativeSize) else { throw damaged("it has no picture of \(plan.nativeSize)") }
        guard let planes = entry.planes else {
            do {
                return try IconPNG(bytes(entry.range, data)).decode(plan, context: context)
            } catch CodecError.damaged(_, let reason) {
                throw damaged(reason)
            }
        }
        let colors = try colors(bytes(entry.range, data), size: entry.size)
        // A file of this picture alone: the loader takes the largest, and one of 256 pixels whatever its format is.
        let body = Self.element(planes.name, colors) + Self.element(planes.maskName, bytes(planes.mask, data))
        return try Loaders.decode(
            Self.element(Array("icns".utf8), body), as: info, by: ["icns"], size: entry.size, context: context)
    }

    /// Returns the colours for the loader, which drops four zeros before those of 128 pixels a side and then decides by the length
    /// whether they are packed. It always gets these zeros, so that it never drops a black pixel and decides by the same bytes.
    ///
    /// - Throws: `CodecError.damaged`.
    private func colors(_ bytes: Data, size: PixelSize) throws -> Data {
        let (zeros, area) = (Data(count: 4), size.width * size.height)
        let mayHaveZeros = size.width == 128
        let isWhole = bytes.count == 4 * area
        let rest = mayHaveZeros && !isWhole && bytes.starts(with: zeros) ? bytes.dropFirst(zeros.count) : bytes
        if rest.count != 4 * area { try checkPacked(rest, area: area) }
        return mayHaveZeros ? zeros + rest : rest
    }

    /// Checks that packed colours are there: the loader reads on behind their end.
    private func checkPacked(_ colors: Data, area: Int) throws {
        try colors.read { reader in
            var place = 0
            for _ in 0..<3 {
                var pixels = 0
                while pixels < area {
                    guard let packet = reader.byte(place) else { throw damaged("its colors were cut off") }
                    let (length, bytes) = packet & 0x80 != 0 ? (packet - 125, 1) : (packet + 1, packet + 1)
                    guard reader.has(bytes, at: place + 1) else { throw damaged("its colors were cut off") }
                    pixels += length
                    place += 1 + bytes
                }
            }
        }
    }

    private static func element(_ name: [UInt8], _ body: Data) -> Data {
        let length = withUnsafeBytes(of: UInt32(clamping: 8 + body.count).bigEndian) { Data($0) }
        return Data(name) + length + body
    }
}
