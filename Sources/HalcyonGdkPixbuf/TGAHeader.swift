import HalcyonCodecs
import HalcyonImage

/// The header of a TGA, 18 bytes that a name and a palette follow.
struct TGAHeader: LoaderHeader {
    let info: ImageInfo
    /// The place of the first pixel.
    private let start: Int
    private let bytesPerPixel: Int
    private let isPacked: Bool

    /// - Throws: `CodecError.damaged`, also for kinds that the loader does not read or shows in wrong colours.
    init(_ reader: ByteReader) throws {
        guard let name = reader.byte(0), let kind = reader.byte(2), let first = reader.littleEndian16(3),
            let count = reader.littleEndian16(5), let entryBits = reader.byte(7),
            let width = reader.littleEndian16(12), let height = reader.littleEndian16(14), let depth = reader.byte(16),
            let flags = reader.byte(17)
        else { throw CodecError.damaged(.tga, reason: "its header was cut off") }
        let hasPalette = reader.byte(1) == 1
        let isIndexed = kind & 7 == 1
        // The loader takes the bits of its entries for those of the pixels.
        guard isIndexed || !hasPalette else {
            throw CodecError.damaged(
                .tga, reason: "it is of a kind that is not read: it has a palette, and pixels that do not use it")
        }
        guard first == 0 || !isIndexed else {
            throw CodecError.damaged(
                .tga, reason: "it is of a kind that is not read: its palette begins with color \(first)")
        }
        let isGray = kind & 7 == 3
        guard isGray || depth != 16, depth != 15 else {
            throw CodecError.damaged(.tga, reason: "it is of a kind that is not read: \(depth) bits a pixel")
        }
        start = 18 + name + (entryBits + 7) / 8 * count
        bytesPerPixel = depth / 8
        isPacked = kind & 8 != 0
        // The lower four flags are the number of bits of alpha. Without any, what stands in their place is nothing.
        let hasAlpha = isIndexed ? entryBits == 32 : flags & 0x0F != 0 && (depth == 16 || depth == 32)
        info = ImageInfo(
            format: .tga, size: PixelSize(width, height), hasAlpha: hasAlpha, colorSpace: isGray ? .gray : .sRGB)
    }

    /// The loader fills what is missing with zeros.
    func checkPixels(_ reader: ByteReader) throws {
        let count = info.size.area ?? .max
        guard isPacked else {
            guard reader.has(count * bytesPerPixel, at: start) else { throw damaged("its pixels were cut off") }
            return
        }
        var (pixels, place) = (0, start)
        while pixels < count {
            guard let packet = reader.byte(place) else { throw damaged("its pixels were cut off") }
            let (length, isRun) = (packet & 0x7F + 1, packet & 0x80 != 0)
            let bytes = isRun ? bytesPerPixel : min(length, count - pixels) * bytesPerPixel
            guard reader.has(bytes, at: place + 1) else { throw damaged("its pixels were cut off") }
            pixels += length
            place += 1 + bytes
        }
    }
}
