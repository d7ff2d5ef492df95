import Foundation
import HalcyonImage

/// HEIC and AVIF files whose container and coded pictures declare the values that a test wants. There are no pixels behind
/// them: the headers determine the cost of a decode.
struct CraftedHEIF {
    struct Item {
        var type = "hvc1"
        var size: PixelSize?
        /// The size in the configuration's parameter set or sequence header.
        var coded: PixelSize?
        var data = Data()
        var parts: [Int] = []
        var auxiliaryOf: Int?
        /// The name of what an auxiliary picture holds.
        var auxiliaryType: String?
        var isInIdat = false
        /// In how many pieces the data lies.
        var pieces = 1
    }

    var items: [Item]
    var brand = "heic"
    /// The size of a track, whose first sample is the first item's data.
    var track: PixelSize?

    /// The first item is the primary one; identifiers count from 1.
    func data() -> Data {
        // The places of the data depend on the length of what is before it, which does not depend on them.
        let head = file(dataStart: 0).count - items.reduce(0) { $0 + ($1.isInIdat ? 0 : $1.data.count) }
        return file(dataStart: head)
    }

    private func file(dataStart: Int) -> Data {
        let boxes = Self.box("ftyp", Data("\(brand)".utf8) + Self.big32(0) + Data("mif1\(brand)".utf8))
        let bodies = items.filter { !$0.isInIdat }.reduce(Data()) { $0 + $1.data }
        return boxes + meta(dataStart: dataStart) + movie(dataStart) + Self.box("mdat", bodies)
    }

    private func movie(_ dataStart: Int) -> Data {
        guard let track, let first = items.first else { return Data() }
        let sides = Self.big32(track.width << 16) + Self.big32(track.height << 16)
        let sizes = Self.box("stsz", Data(count: 8) + Self.big32(1) + Self.big32(first.data.count))
        let formats = Self.box("stsd", Data(count: 4) + Self.big32(1) + Self.box("av01", Data(count: 78)))
        let table = Self.box(
            "stbl", formats + sizes + Self.box("stco", Data(count: 4) + Self.big32(1) + Self.big32(dataStart)))
        let media = Self.box("mdia", Self.box("minf", table))
        return Self.box("moov", Self.box("trak", Self.box("tkhd", Data(count: 76) + sides) + media))
    }

    private func meta(dataStart: Int) -> Data {
        let handler = Self.box("hdlr", Data(count: 8) + Data("pict".utf8) + Data(count: 13))
        let primary = Self.box("pitm", Data(count: 4) + Self.big16(1))
        let infos = items.enumerated().map { index, item in
            let body = Data([2, 0, 0, 0]) + Self.big16(index + 1) + Self.big16(0) + Data(item.type.utf8) + Data([0])
            return Self.box("infe", body)
        }
        let list = Self.box("iinf", Data(count: 4) + Self.big16(items.count) + infos.reduce(Data(), +))
        let idat = Self.box("idat", items.filter(\.isInIdat).reduce(Data()) { $0 + $1.data })
        return Self.box(
            "meta", Data(count: 4) + handler + primary + list + properties() + references() + places(dataStart) + idat)
    }

    private func properties() -> Data {
        var (container, associations) = (Data(), Data())
        var count = 0
        for (index, item) in items.enumerated() {
            var own: [UInt8] = []
            if let size = item.size {
                container += Self.box("ispe", Data(count: 4) + Self.big32(size.width) + Self.big32(size.height))
                count += 1
                own.append(UInt8(count))
            }
            if let coded = item.coded {
                container += item.type == "av01" ? Self.av1Box(coded) : Self.hevcBox(coded)
                count += 1
                own.append(UInt8(count))
            }
            if let type = item.auxiliaryType {
                container += Self.box("auxC", Data(count: 4) + Data(type.utf8) + Data([0]))
                count += 1
                own.append(UInt8(count))
            }
            associations += Self.big16(index + 1) + Data([UInt8(own.count)] + own)
        }
        let table = Self.box("ipma", Data(count: 4) + Self.big32(items.count) + associations)
        return Self.box("iprp", Self.box("ipco", container) + table)
    }

    private func references() -> Data {
        var boxes = Data()
        for (index, item) in items.enumerated() {
            if !item.parts.isEmpty {
                let targets = item.parts.reduce(Data()) { $0 + Self.big16($1) }
                boxes += Self.box("dimg", Self.big16(index + 1) + Self.big16(item.parts.count) + targets)
            }
            if let target = item.auxiliaryOf {
                boxes += Self.box("auxl", Self.big16(index + 1) + Self.big16(1) + Self.big16(target))
            }
        }
        return boxes.isEmpty ? Data() : Self.box("iref", Data(count: 4) + boxes)
    }

    private func places(_ dataStart: Int) -> Data {
        var (offset, inside) = (dataStart, 0)
        var entries = Data()
        for (index, item) in items.enumerated() {
            let start = item.isInIdat ? inside : offset
            if item.isInIdat { inside += item.data.count } else { offset += item.data.count }
            entries += Self.big16(index + 1) + Self.big16(item.isInIdat ? 1 : 0) + Self.big16(0)
            entries += Self.big16(item.pieces)
            for piece in 0..<item.pieces {
                let (first, end) = (item.data.count * piece / item.pieces, item.data.count * (piece + 1) / item.pieces)
                entries += Self.big32(start + first) + Self.big32(end - first)
            }
        }
        return Self.box("iloc", Data([1, 0, 0, 0, 0x44, 0]) + Self.big16(items.count) + entries)
    }

    // MARK: H.265

    static func hevcBox(_ size: PixelSize) -> Data {
        let unit = parameterSet(size)
        let head = Data([1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 0x5D, 0xF0, 0, 0xFC, 0xFD, 0xF8, 0xF8, 0, 0, 0x0F])
        return box("hvcC", head + Data([1, 0xA1]) + big16(1) + big16(unit.count) + unit)
    }

    /// A sequence parameter set as a unit, with the bytes that keep start codes out.
    static func parameterSet(_ size: PixelSize, subLayers: Int = 0) -> Data {
        var bits = Bits()
        bits.put(0, 4)
        bits.put(subLayers, 3)
        bits.put(1, 1)
        for value in [1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 30] { bits.put(value, 8) }
        if subLayers > 0 {
            for _ in 0..<subLayers { bits.put(3, 2) }
            for _ in subLayers..<8 { bits.put(0, 2) }
            for _ in 0..<subLayers * 12 { bits.put(0, 8) }
        }
        bits.putGolomb(0)
        bits.putGolomb(1)
        bits.putGolomb(size.width)
        bits.putGolomb(size.height)
        for _ in 0..<12 { bits.putGolomb(3) }
        var unit = Data([0x42, 0x01])
        var zeros = 0
        for byte in bits.bytes {
            if zeros >= 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }

    /// The first slice of a picture, without anything behind its first byte.
    static let slice = Data([0x26, 0x01, 0xAF, 0x00])

    /// A unit behind its length.
    static func unit(_ unit: Data) -> Data { big32(unit.count) + unit }

    // MARK: AV1

    static func av1Box(_ size: PixelSize) -> Data {
        box("av1C", Data([0x81, 0, 0x0C, 0]) + sequenceHeader(size))
    }

    /// - Parameters:
    ///   - isReduced: whether the header is as short as that of a still picture may be.
    ///   - level: that of the operating points of a header that is not.
    static func sequenceHeader(_ size: PixelSize, isReduced: Bool = true, level: Int = 9) -> Data {
        var bits = Bits()
        bits.put(0, 3)
        bits.put(1, 1)
        bits.put(isReduced ? 1 : 0, 1)
        if isReduced {
            bits.put(0, 5)
        } else {
            // Timing and a decoder model, a delay, and two operating points that have all of it.
            bits.put(1, 1)
            bits.put(1, 32)
            bits.put(1, 32)
            bits.put(1, 1)
            bits.putGolomb(0)
            bits.put(1, 1)
            bits.put(9, 5)
            bits.put(0, 42)
            bits.put(1, 1)
            bits.put(1, 5)
            for _ in 0..<2 {
                bits.put(0, 12)
                bits.put(level, 5)
                if level > 7 { bits.put(0, 1) }
                bits.put(1, 1)
                bits.put(0, 21)
                bits.put(1, 1)
                bits.put(0, 4)
            }
        }
        bits.put(15, 4)
        bits.put(15, 4)
        bits.put(size.width - 1, 16)
        bits.put(size.height - 1, 16)
        for _ in 0..<4 { bits.put(0, 8) }
        return obu(1, Data(bits.bytes))
    }

    static func obu(_ type: UInt8, _ body: Data) -> Data { Data([type << 3 | 2, UInt8(body.count)]) + body }

    // MARK: Bytes

    private static func box(_ name: String, _ body: Data) -> Data { big32(body.count + 8) + Data(name.utf8) + body }

    private static func big16(_ value: Int) -> Data { Data([UInt8(value >> 8 & 255), UInt8(value & 255)]) }

    private static func big32(_ value: Int) -> Data { big16(value >> 16) + big16(value) }

    private struct Bits {
        private var values: [UInt8] = []
        var bytes: [UInt8] {
            stride(from: 0, to: values.count, by: 8).map { start in
                (0..<8).reduce(0) { $0 << 1 | (start + $1 < values.count ? values[start + $1] : 0) }
            }
        }

        mutating func put(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { values.append(UInt8(value >> bit & 1)) }
        }

        mutating func putGolomb(_ value: Int) {
            let length = (value + 1).bitWidth - (value + 1).leadingZeroBitCount
            put(0, length - 1)
            put(value + 1, length)
        }
    }
}
