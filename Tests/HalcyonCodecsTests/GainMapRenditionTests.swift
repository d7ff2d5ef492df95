import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import TestSupport
import Testing

/// The light that a bright display shows of an image with a gain map, against the formula of ISO 21496-1 in numbers of 64 bits.
@Suite struct GainMapRenditionTests {
    private let registry = CoderRegistry.standard()
    private static let files = ["gainmap/iso.jpg", "gainmap/ultra-hdr.jpg"]

    private static let p3Matrix = ToneReference.Primaries.p3.matrix
    private static func inverse(_ matrix: [[Double]]) -> [[Double]] {
        func cofactor(_ row: Int, _ column: Int) -> Double {
            let (r, c) = ([(row + 1) % 3, (row + 2) % 3], [(column + 1) % 3, (column + 2) % 3])
            return matrix[r[0]][c[0]] * matrix[r[1]][c[1]] - matrix[r[0]][c[1]] * matrix[r[1]][c[0]]
        }
        let determinant = (0..<3).reduce(0) { $0 + matrix[0][$1] * cofactor(0, $1) }
        return (0..<3).map { row in (0..<3).map { cofactor($0, row) / determinant } }
    }

    private static func times(_ matrix: [[Double]], _ color: [Double]) -> [Double] {
        matrix.map { row in zip(row, color).reduce(0) { $0 + $1.0 * $1.1 } }
    }

    /// Colours of a picture and of the gains: those of sRGB, or of Display P3, which has the same curve.
    private enum Colors { case sRGB, displayP3 }

    /// The light of sRGB that the formula gives for opaque pixels, at a weight from -1 to 1.
    private static func expected(_ image: Image, weight: Double, base: Colors = .sRGB, gains: Colors = .sRGB) throws
        -> [Double]
    {
        let map = try #require(image.gainMap)
        let (bytes, values, size) = (image.bitmap.bytes, map.bitmap.bytes, map.size)
        let channels = [map.metadata.red, map.metadata.green, map.metadata.blue]
        func between(_ index: Int, _ count: Int, _ all: Int) -> (Int, Int, Double) {
            let place = min(max((Double(index) + 0.5) * Double(all) / Double(count) - 0.5, 0), Double(all - 1))
            return (Int(place), min(Int(place) + 1, all - 1), place - place.rounded(.down))
        }
        var result: [Double] = []
        for y in 0..<image.height {
            let (top, bottom, down) = between(y, image.height, size.height)
            for x in 0..<image.width {
                let (left, right, across) = between(x, image.width, size.width)
                func value(_ channel: Int) -> Double {
                    func at(_ x: Int, _ y: Int) -> Double {
                        Double(values[(y * size.width + x) * 4 + 2 - channel]) / 255
                    }
                    let upper = at(left, top) * (1 - across) + at(right, top) * across
                    return upper * (1 - down) + (at(left, bottom) * (1 - across) + at(right, bottom) * across) * down
                }
                var light = (0..<3).map { (channel: Int) -> Double in
                    let value = Double(bytes[(y * image.width + x) * 4 + 2 - channel]) / 255
                    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
                }
                if base == .displayP3 { light = times(p3Matrix, light) }
                if gains == .displayP3 { light = times(inverse(p3Matrix), light) }
                light = (0..<3).map { index in
                    let channel = channels[index]
                    let amount = pow(value(index), 1 / channel.gamma)
                    let stops = channel.minimum + (channel.maximum - channel.minimum) * amount
                    return (light[index] + channel.baseOffset) * exp2(weight * stops) - channel.alternateOffset
                }
                result += gains == .displayP3 ? times(p3Matrix, light) : light
            }
        }
        return result
    }

    private func colors(_ deep: DeepBitmap?) throws -> [Double] {
        let values = try #require(deep).values
        return stride(from: 0, to: values.count, by: 4).flatMap { values[$0..<$0 + 3] }
    }

    /// Halfs have 11 bits, before the gains and after them.
    private func expectNear(
        _ found: [Double], _ expected: [Double], within tolerance: Double = 0.003,
        _ place: SourceLocation = #_sourceLocation
    ) throws {
        try #require(found.count == expected.count, sourceLocation: place)
        let worst = zip(found, expected).reduce(0.0) { max($0, abs($1.0 - $1.1) / max(0.1, abs($1.1))) }
        #expect(worst < tolerance, sourceLocation: place)
    }

    private func picture(
        _ metadata: GainMap.Metadata?, map size: PixelSize = PixelSize(7, 5), isMonochrome: Bool = false
    ) throws -> Image {
        var chance = FixedGenerator(state: 5)
        func bitmap(_ size: PixelSize, isGray: Bool) throws -> Bitmap {
            let pixels = (0..<size.width * size.height).flatMap { _ -> [UInt8] in
                let color = (0..<3).map { _ in UInt8.random(in: 0...255, using: &chance) }
                return (isGray ? [color[0], color[0], color[0]] : color) + [255]
            }
            return try Bitmap(size: size, isOpaque: true) { $0.copyBytes(from: pixels) }
        }
        let base = try bitmap(PixelSize(23, 17), isGray: false)
        var image = Image(bitmap: base, info: ImageInfo(format: .bitmap, size: base.size))
        image.gainMap = GainMap(
            bitmap: try bitmap(size, isGray: isMonochrome), isMonochrome: isMonochrome, metadata: try #require(metadata)
        )
        return image
    }

    private static let red = GainMap.Channel(
        minimum: -0.5, maximum: 3, gamma: 1, baseOffset: 1 / 64, alternateOffset: 1 / 64)
    private static let green = GainMap.Channel(minimum: 0, maximum: 2, gamma: 2.2, baseOffset: 0, alternateOffset: 0.01)
    private static let blue = GainMap.Channel(minimum: 1, maximum: 1.5, gamma: 0.5, baseOffset: 0.1, alternateOffset: 0)
    private static var threeChannels: GainMap.Metadata? {
        GainMap.Metadata(red: red, green: green, blue: blue, baseHeadroom: 0.5, alternateHeadroom: 2.5)
    }

    @Test func theFormulaIsThatOfTheStandard() throws {
        let image = try picture(Self.threeChannels)
        for (headroom, weight) in [
            (nil, 1), (2.5, 1), (64, 1), (0.5, 0), (0, 0), (1.5, 0.5), (2, 0.75), (-1, 0), (.nan, 0),
        ]
            as [(Double?, Double)]
        {
            let found = try colors(try image.rendition(headroom: headroom))
            try expectNear(found, try Self.expected(image, weight: weight))
        }
    }

    /// The image is for the brighter display, and others show less.
    @Test func gainsAreTakenBackFromABrighterImage() throws {
        let metadata = GainMap.Metadata(
            red: Self.red, green: Self.green, blue: Self.blue, baseHeadroom: 3, alternateHeadroom: 1)
        let image = try picture(metadata)
        for (headroom, weight) in [(nil, -1), (0, -1), (1, -1), (2, -0.5), (3, 0), (4, 0)] as [(Double?, Double)] {
            try expectNear(
                try colors(try image.rendition(headroom: headroom)), try Self.expected(image, weight: weight))
        }
    }

    @Test(arguments: [PixelSize(1, 1), PixelSize(2, 17), PixelSize(23, 17), PixelSize(40, 30)])
    func aMapOfAnySizeCoversTheImage(_ size: PixelSize) throws {
        let image = try picture(Self.threeChannels, map: size)
        try expectNear(try colors(try image.rendition()), try Self.expected(image, weight: 1))
    }

    /// Gains of three channels are for the colours of the image, or of the brighter picture.
    @Test func gainsApplyInTheirOwnColours() throws {
        let p3 = try Fixture.read("icc/p3.icc")
        var image = try picture(Self.threeChannels)
        image.colorProfile = p3
        try expectNear(
            try colors(try image.rendition()),
            try Self.expected(image, weight: 1, base: .displayP3, gains: .displayP3), within: 0.005)
        let metadata = GainMap.Metadata(
            red: Self.red, green: Self.green, blue: Self.blue, baseHeadroom: 0.5, alternateHeadroom: 2.5,
            usesBaseColorSpace: false)
        image = try picture(metadata)
        let map = try #require(image.gainMap)
        image.gainMap = GainMap(bitmap: map.bitmap, isMonochrome: false, metadata: map.metadata, colorProfile: p3)
        try expectNear(
            try colors(try image.rendition()), try Self.expected(image, weight: 1, gains: .displayP3),
            within: 0.005)
        // One gain for all channels is the same in both.
        let one = GainMap.Metadata(red: Self.red, green: Self.red, blue: Self.red, alternateHeadroom: 2)
        image = try picture(one, isMonochrome: true)
        image.colorProfile = p3
        try expectNear(
            try colors(try image.rendition()),
            try Self.expected(image, weight: 1, base: .displayP3, gains: .displayP3), within: 0.005)
    }

    /// Files of HDR sources say PQ or HLG of the brighter picture: its primaries count, the formula has the light.
    @Test(arguments: [16, 18] as [UInt8]) func gainsKnowNoCurve(transfer: UInt8) throws {
        let metadata = GainMap.Metadata(
            red: Self.red, green: Self.green, blue: Self.blue, baseHeadroom: 0.5, alternateHeadroom: 2.5,
            usesBaseColorSpace: false)
        var image = try picture(metadata)
        let map = try #require(image.gainMap)
        image.gainMap = GainMap(
            bitmap: map.bitmap, isMonochrome: false, metadata: map.metadata,
            colorProfile: ProfileFile.withCodePoints([12, transfer, 0, 1]))
        try expectNear(
            try colors(try image.rendition()), try Self.expected(image, weight: 1, gains: .displayP3),
            within: 0.005)
    }

    @Test func aProfileThatIsBrokenIsThatOfSRGB() throws {
        var image = try picture(Self.threeChannels)
        image.colorProfile = Data(repeating: 9, count: 300)
        try expectNear(try colors(try image.rendition()), try Self.expected(image, weight: 1))
    }

    @Test(arguments: files) func aFileIsShownAsTheFormulaHasIt(_ name: String) throws {
        var image = try registry.decode(TestFiles.data(name), options: DecodeOptions(decodesGainMap: true))
        image.colorProfile = nil
        try expectNear(try colors(try image.rendition()), try Self.expected(image, weight: 1))
    }

    /// By libvips and libultrahdr, which spread a map, and libultrahdr also the colours of a JPEG, in ways of their own.
    @Test(arguments: [("gainmap/ultra-hdr", 39.0), ("gainmap/iso", 30)])
    func otherReadersShowTheSame(_ name: String, _ decibels: Double) throws {
        var image = try registry.decode(TestFiles.data(name + ".jpg"), options: DecodeOptions(decodesGainMap: true))
        // They stay in the colours of the file.
        image.colorProfile = nil
        let golden = try DeepFixture.words(name + "-jpg.half").map { Double(Float16(bitPattern: $0)) }
        let found = try colors(try image.rendition())
        try #require(found.count == golden.count)
        let error = zip(found, golden).reduce(0) { $0 + pow($1.0 - $1.1, 2) } / Double(golden.count)
        let likeness = 10 * log10(pow(golden.max() ?? 0, 2) / error)
        #expect(likeness > decibels)
    }

    @Test func theFormatIsThatWhichWasAskedFor() throws {
        let image = try picture(Self.threeChannels)
        let light = try #require(try image.rendition())
        #expect(light.format == .init(.float16, colorSpace: .linearSRGB) && light.isOpaque && light.size == image.size)
        for format in [DeepBitmap.Format(colorSpace: .bt2020PQ), .init(.float16, colorSpace: .bt2020HLG), .init()] {
            let other = try #require(try image.rendition(as: format))
            let words = try light.converted(to: format).words
            #expect(other.format == format && other.words == words)
        }
        // It can be written, with its light.
        let file = try registry.encode(
            try Image(try #require(try image.rendition(as: .init(colorSpace: .bt2020PQ)))), as: .png,
            options: EncodeOptions(bitsPerChannel: 16))
        let options = DecodeOptions(depth: .init(), keepsDynamicRange: true)
        #expect(try registry.decode(file, options: options).deepBitmap?.format == .init(colorSpace: .bt2020PQ))
    }

    @Test func alphaStays() throws {
        let opaque = try picture(Self.threeChannels)
        let bytes = opaque.bitmap.bytes.enumerated().map { index, byte in index % 4 == 3 ? 128 : byte / 255 * 128 }
        let bitmap = try Bitmap(size: opaque.size, isOpaque: false) { $0.copyBytes(from: bytes) }
        var image = Image(bitmap: bitmap, info: opaque.info)
        image.gainMap = opaque.gainMap
        // Every colour is black or white.
        let full = try Bitmap(size: opaque.size, isOpaque: true) {
            $0.copyBytes(from: opaque.bitmap.bytes.enumerated().map { $0 % 4 == 3 ? 255 : $1 / 255 * 255 })
        }
        var same = Image(bitmap: full, info: opaque.info)
        same.gainMap = opaque.gainMap
        let values = try #require(try image.rendition()).values
        let whole = try #require(try same.rendition()).values
        let expected = whole.map { $0 * 128 / 255 }
        #expect(zip(values, expected).allSatisfy { abs($0 - $1) <= 0.003 * max(1, abs($1)) })
    }

    @Test func anImageWithoutAMapHasNone() throws {
        let image = try registry.decode(TestFiles.data(Self.files[0]))
        #expect(try image.rendition() == nil)
    }

    @Test func itIsCancelled() throws {
        let image = try picture(Self.threeChannels)
        #expect(throws: CancellationError.self) { try image.rendition(context: WorkContext { true }) }
    }
}
