import Foundation
import Halcyon
import HalcyonCodecs

/// Measures what PQ and HLG cost, as PNGs of 16 bits that are read, beside the same words in linear light, which lcms2 converts, and
/// in sRGB, which nothing does. The PNGs are not compressed.
struct ToneSuite: Suite {
    let names = ["tone"]

    private static let size = PixelSize(1024, 768)

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let words = try NoiseImage.make(Self.size, seed: 5).bitmap
        func file(_ transfer: UInt8) -> Data { Self.png(words, transfer: transfer) }
        let (linear, plain) = (file(8), file(13))
        return [("PQ", file(16)), ("HLG", file(18))].flatMap { name, data in
            [
                Self.decode(data, beside: linear, "\(name), beside lcms2"),
                Self.decode(data, beside: plain, "\(name), beside no conversion"),
            ]
        }
    }

    private static func decode(_ data: Data, beside floor: Data, _ variant: String) -> Comparison {
        let run = { @Sendable (data: Data) in
            try OneCore.run { try Sample.of { _ = try CoderRegistry.shared.decode(data) } }
        }
        return Comparison(
            name: "tone", variant: variant, unit: .milliseconds, operations: 1,
            subject: { try run(data) }, floor: { try run(floor) })
    }

    /// A PNG in the primaries of BT.2020, or of sRGB for its curve, whose words are made of bytes and their neighbours.
    private static func png(_ bitmap: Bitmap, transfer: UInt8) -> Data {
        let words = bitmap.withPixels { pixels in
            (0..<size.height).flatMap { y -> [UInt8] in
                let row = y * size.width * 4
                return [0]
                    + (0..<size.width).flatMap { x -> [UInt8] in
                        let at = row + x * 4
                        return [2, 1, 0].flatMap { [pixels[at + $0], pixels[at + ($0 + 1) % 3]] }
                    }
            }
        }
        var stream = Data([0x78, 0x01])
        for start in stride(from: 0, to: words.count, by: 65_535) {
            let part = words[start..<min(words.count, start + 65_535)]
            let count = UInt16(part.count)
            stream.append(part.endIndex == words.count ? 1 : 0)
            for value in [count, ~count] { stream += [UInt8(value & 255), UInt8(value >> 8)] }
            stream += part
        }
        stream += big(adler(words))
        let header = big(UInt32(size.width)) + big(UInt32(size.height)) + [16, 2, 0, 0, 0]
        return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + chunk("IHDR", header)
            + chunk("cICP", Data([transfer == 13 ? 1 : 9, transfer, 0, 1])) + chunk("IDAT", stream)
            + chunk("IEND", Data())
    }

    private static func big(_ value: UInt32) -> Data {
        Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) })
    }

    private static func chunk(_ name: String, _ body: Data) -> Data {
        var checksum = UInt32.max
        for byte in Data(name.utf8) + body {
            checksum ^= UInt32(byte)
            for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return big(UInt32(body.count)) + Data(name.utf8) + body + big(~checksum)
    }

    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return high << 16 | low
    }
}
