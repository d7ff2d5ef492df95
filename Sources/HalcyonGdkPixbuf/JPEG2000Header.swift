import Foundation
import HalcyonCodecs
import HalcyonImage

/// The header of a JPEG 2000: that of the codestream, or in a container the box that has the same facts.
struct JPEG2000Header: LoaderHeader {
    /// The most boxes that are looked at.
    private static let mostBoxes = 64

    let info: ImageInfo

    var loaders: [String] { ["jp2", "jpeg2000", "jpx"] }

    /// The loader's pixels, and for each of four channels a number of 32 bits and its wavelets; the file, as a whole.
    func workingBytes(of data: Data, at native: PixelSize) -> Int {
        0.adding(9, times: native.bitmapBytes).adding(2, times: data.count)
    }

    /// - Throws: `CodecError.damaged`.
    init(_ reader: ByteReader) throws {
        let isBare = reader.matches([0xFF, 0x4F, 0xFF, 0x51], at: 0)
        guard let info = isBare ? Self.codestream(reader) : Self.container(reader), !info.size.isEmpty else {
            throw CodecError.damaged(.jpeg2000, reason: "its header has no size")
        }
        self.info = info
    }

    /// Reads the marker segment SIZ, which comes first: the size of the reference grid less the offset of the image in it.
    private static func codestream(_ reader: ByteReader) -> ImageInfo? {
        guard let right = reader.bigEndian32(8), let bottom = reader.bigEndian32(12), let left = reader.bigEndian32(16),
            let top = reader.bigEndian32(20), let channels = reader.bigEndian16(40), let depth = reader.byte(42)
        else { return nil }
        return info(PixelSize(right - left, bottom - top), channels: channels, depth: depth)
    }

    /// Reads the box `ihdr`, which comes first in the box `jp2h`.
    private static func container(_ reader: ByteReader) -> ImageInfo? {
        var place = 0
        for _ in 0..<mostBoxes {
            guard let length = reader.bigEndian32(place) else { return nil }
            if reader.matches("jp2h", at: place + 4) {
                let start = place + 16
                guard reader.matches("ihdr", at: place + 12), let height = reader.bigEndian32(start),
                    let width = reader.bigEndian32(start + 4), let channels = reader.bigEndian16(start + 8),
                    let depth = reader.byte(start + 10)
                else { return nil }
                // 255: the depths differ, and stand elsewhere.
                return info(PixelSize(width, height), channels: channels, depth: depth == 255 ? 7 : depth)
            }
            guard length >= 8 else { return nil }
            place += length
        }
        return nil
    }

    private static func info(_ size: PixelSize, channels: Int, depth: Int) -> ImageInfo {
        ImageInfo(
            format: .jpeg2000, size: size, hasAlpha: channels == 2 || channels == 4,
            bitsPerChannel: min(depth & 0x7F + 1, 64), colorSpace: channels < 3 ? .gray : .sRGB)
    }
}
