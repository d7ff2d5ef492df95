import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// A file of more than 8 bits a channel and what another decoder, or the array that it was made of, has.
struct DeepFixture: Decodable, Sendable, CustomTestStringConvertible {
    let file: String
    let golden: String
    let width: Int
    let height: Int
    let channels: String
    let colorSpace: String
    let tolerance: Int

    var testDescription: String { file }
    var format: DeepBitmap.Format {
        get throws {
            DeepBitmap.Format(
                try #require(DeepBitmap.Channels(rawValue: channels)),
                colorSpace: try #require(NamedColorSpace(rawValue: colorSpace)))
        }
    }

    static let all: [DeepFixture] = {
        guard let data = try? Fixture.read("deep/goldens.json") else { return [] }
        return (try? JSONDecoder().decode([DeepFixture].self, from: data)) ?? []
    }()

    /// The straight pixels.
    func goldenWords() throws -> [UInt16] { try Self.words(golden) }

    static func words(_ path: String) throws -> [UInt16] {
        let data = try Fixture.read(path)
        return data.withUnsafeBytes { bytes in
            (0..<bytes.count / 2).map {
                UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 2, as: UInt16.self))
            }
        }
    }
}

extension DeepBitmap {
    var words: [UInt16] { withPixels { [UInt16]($0.bindMemory(to: UInt16.self)) } }

    /// The channels as numbers of which 1 is full, premultiplied.
    var values: [Double] {
        words.map { format.channels == .float16 ? Double(Float16(bitPattern: $0)) : Double($0) / 65535 }
    }

    convenience init(words: [UInt16], size: PixelSize, format: Format = Format(), isOpaque: Bool = false) throws {
        try self.init(size: size, format: format, isOpaque: isOpaque) { bytes in
            words.withUnsafeBytes { bytes.copyMemory(from: $0) }
        }
    }

    /// Pixels that use all bits, premultiplied.
    static func sample(_ size: PixelSize, format: Format = Format(), hasAlpha: Bool = false, seed: UInt64 = 1) throws
        -> DeepBitmap
    {
        var chance = FixedGenerator(state: seed)
        var words: [UInt16] = []
        for _ in 0..<size.width * size.height {
            let alpha = hasAlpha ? UInt16.random(in: 0...65535, using: &chance) : 65535
            for _ in 0..<3 {
                let value = UInt16.random(in: 0...65535, using: &chance)
                words.append(UInt16((UInt64(value) * UInt64(alpha) + 32767) / 65535))
            }
            words.append(alpha)
        }
        if format.channels == .float16 { words = words.map { Float16(Double($0) / 65535).bitPattern } }
        return try DeepBitmap(words: words, size: size, format: format, isOpaque: !hasAlpha)
    }
}

/// Multiplies straight words by their alpha, rounded to the nearest.
func premultiplied(_ words: [UInt16]) -> [UInt16] {
    var result = words
    for pixel in stride(from: 0, to: words.count, by: 4) {
        for channel in pixel..<pixel + 3 {
            result[channel] = UInt16((UInt64(words[channel]) * UInt64(words[pixel + 3]) + 32767) / 65535)
        }
    }
    return result
}

func largestDifference(_ left: [UInt16], _ right: [UInt16]) -> Int? {
    guard left.count == right.count else { return nil }
    return zip(left, right).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
}

func largestDifference(_ left: [Double], _ right: [Double]) -> Double? {
    guard left.count == right.count else { return nil }
    return zip(left, right).reduce(0) { max($0, abs($1.0 - $1.1)) }
}
