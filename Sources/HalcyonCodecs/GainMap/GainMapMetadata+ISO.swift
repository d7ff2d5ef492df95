import Foundation
import HalcyonImage

/// The binary form of a gain map's metadata (ISO 21496-1, annex C): in JPEG in a segment of its own, with this name before it.
extension GainMap.Metadata {
    package static let isoName: StaticString = "urn:iso:std:iso:ts:21496:-1\0"
    /// The picture's own part: the version of the format, of readers and of writers.
    package static let isoVersion = Data([0, 0, 0, 0])

    private static let isMultichannel = 1 << 7
    private static let usesBase = 1 << 6
    private static let sharesDenominator = 1 << 3

    /// Reads the metadata, from its version on; nil for a newer version that cannot be read, and for numbers without a meaning.
    package init?(iso reader: ByteReader) {
        guard reader.bigEndian16(0) == 0, let flags = reader.byte(4) else { return nil }
        var fractions = Fractions(reader, at: 5)
        if flags & Self.sharesDenominator != 0 { fractions.readSharedDenominator() }
        let (base, alternate) = (fractions.unsigned(), fractions.unsigned())
        let channels = (0..<(flags & Self.isMultichannel != 0 ? 3 : 1)).map { _ in
            GainMap.Channel(
                minimum: fractions.signed(), maximum: fractions.signed(), gamma: fractions.unsigned(),
                baseOffset: fractions.signed(), alternateOffset: fractions.signed())
        }
        guard let first = channels.first, let last = channels.last else { return nil }
        self.init(
            red: first, green: channels.count == 3 ? channels[1] : first, blue: last, baseHeadroom: base,
            alternateHeadroom: alternate, usesBaseColorSpace: flags & Self.usesBase != 0)
    }

    /// The metadata as `init(iso:)` reads it, each number as exactly as 31 bits can tell it.
    package var iso: Data {
        var data = Self.isoVersion
        data.append(UInt8((isMonochrome ? 0 : Self.isMultichannel) | (usesBaseColorSpace ? Self.usesBase : 0)))
        var numbers = [baseHeadroom, alternateHeadroom]
        for channel in isMonochrome ? [red] : channels {
            numbers += [channel.minimum, channel.maximum, channel.gamma, channel.baseOffset, channel.alternateOffset]
        }
        for number in numbers {
            // No number is beyond 64.
            let denominator = Int32(1) << (abs(number) < 1 ? 30 : 24)
            data.append(bigEndian: Int32((number * Double(denominator)).rounded()))
            data.append(bigEndian: denominator)
        }
        return data
    }

    /// Reads fractions one after the other. One that is not there is no number, which no metadata has.
    private struct Fractions {
        private let reader: ByteReader
        private var position: Int
        private var shared: Int?

        init(_ reader: ByteReader, at position: Int) {
            (self.reader, self.position) = (reader, position)
        }

        mutating func readSharedDenominator() { shared = next() }

        mutating func unsigned() -> Double { fraction(next()) }

        mutating func signed() -> Double { fraction(next().map { Int(Int32(truncatingIfNeeded: $0)) }) }

        private mutating func fraction(_ numerator: Int?) -> Double {
            guard let numerator, let denominator = shared ?? next(), denominator > 0 else { return .nan }
            return Double(numerator) / Double(denominator)
        }

        private mutating func next() -> Int? {
            defer { position += 4 }
            return reader.bigEndian32(position)
        }
    }
}

extension Data {
    mutating func append(bigEndian number: Int32) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}
