import Foundation
import HalcyonImage
import TestSupport
import Testing

@testable import HalcyonCodecs

/// PQ and HLG in sRGB. The fixtures of the folder `hdr` are the same for all formats.
@Suite struct ToneMappingTests {
    private let registry = CoderRegistry.standard()

    /// Words of red, green and blue: greys, ramps of one colour, and chance, more of it dark than bright.
    private static func words(_ count: Int, seed: UInt64) -> [UInt16] {
        var random = FixedGenerator(state: seed)
        return (0..<count).flatMap { index -> [UInt16] in
            let level = UInt16(index * 65_535 / max(1, count - 1))
            switch index % 4 {
            case 0: return [level, level, level]
            case 1: return (0..<3).map { $0 == index / 4 % 3 ? level : level / 3 }
            default:
                let most = UInt16.random(in: 1...UInt16.max, using: &random)
                return (0..<3).map { _ in UInt16.random(in: 0...most, using: &random) }
            }
        }
    }

    /// A PNG with code points and more chunks behind them; its words are rounded to bytes for 8 bits.
    private func png(
        _ words: [UInt16], width: Int, bits: Int, points: [UInt8], chunks: [(String, Data)] = [], hasAlpha: Bool = false
    ) -> Data {
        var bytes = words.flatMap { bits > 8 ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 >> 8)] }
        if hasAlpha { bytes = stride(from: 0, to: bytes.count, by: 3).flatMap { bytes[$0..<$0 + 3] + [255] } }
        let file = PNGFile(width: width, height: words.count / 3 / width, kind: hasAlpha ? 6 : 2, bits: bits)
        let rows = stride(from: 0, to: bytes.count, by: file.rowBytes).flatMap { [0] + bytes[$0..<$0 + file.rowBytes] }
        var added = points.isEmpty ? Data() : CraftedFile.chunk("cICP", Data(points))
        for (name, body) in chunks { added += CraftedFile.chunk(name, body) }
        var data = file.data(Packing().packed(rows))
        // Behind the signature and the header.
        data.insert(contentsOf: added, at: 33)
        return data
    }

    /// Expects each byte to be the nearest to the reference, but for a tenth of a level.
    private func expect(
        _ bitmap: Bitmap, toShow words: [UInt16], bits: Int, as reference: ToneReference,
        _ place: SourceLocation = #_sourceLocation
    ) throws {
        let bytes = bitmap.bytes
        try #require(bytes.count == words.count / 3 * 4, sourceLocation: place)
        var worst = 0.0
        for pixel in 0..<bytes.count / 4 {
            let signal = words[pixel * 3..<pixel * 3 + 3].map {
                bits > 8 ? Double($0) / 65_535 : Double($0 >> 8) / 255
            }
            for (channel, level) in reference.levels(signal).enumerated() {
                worst = max(worst, abs(level - Double(bytes[pixel * 4 + 2 - channel])))
            }
        }
        #expect(worst < 0.6, sourceLocation: place)
    }

    @Test(arguments: ToneReference.Curve.allCases, [8, 16])
    func signalsAreMappedAsTheStandardsSay(_ curve: ToneReference.Curve, bits: Int) throws {
        // No multiple of what is converted at a time.
        let words = Self.words(211 * 31, seed: 3)
        let bitmap = try registry.decode(png(words, width: 211, bits: bits, points: [9, curve.rawValue, 0, 1])).bitmap
        try expect(bitmap, toShow: words, bits: bits, as: ToneReference(curve: curve))
    }

    @Test(arguments: ToneReference.Curve.allCases, ToneReference.Primaries.allCases)
    func primariesAreThoseOfTheFile(_ curve: ToneReference.Curve, _ primaries: ToneReference.Primaries) throws {
        let words = Self.words(64 * 16, seed: 4)
        let data = png(words, width: 64, bits: 16, points: [primaries.rawValue, curve.rawValue, 0, 1])
        let reference = ToneReference(curve: curve, primaries: primaries)
        try expect(registry.decode(data).bitmap, toShow: words, bits: 16, as: reference)
    }

    private func big32(_ values: UInt32...) -> Data {
        Data(values.flatMap { value in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } })
    }

    /// The light that a file declares, from none to more than there can be.
    @Test(
        arguments: [(1, 1e-4), (10_000, 1), (2_030_000, 203), (2_040_000, 204), (40_000_000, 4_000), (.max, 10_000)]
            as [(UInt32, Double)])
    func thePeakIsThatOfTheFile(declared: UInt32, peak: Double) throws {
        let words = Self.words(48 * 40, seed: 5)
        let content = ("cLLI", big32(declared, 0))
        let data = png(words, width: 48, bits: 16, points: [9, 16, 0, 1], chunks: [content])
        try expect(registry.decode(data).bitmap, toShow: words, bits: 16, as: ToneReference(curve: .pq, peak: peak))
        // HLG has no light of its own.
        let relative = png(words, width: 48, bits: 16, points: [9, 18, 0, 1], chunks: [content])
        try expect(registry.decode(relative).bitmap, toShow: words, bits: 16, as: ToneReference(curve: .hlg))
    }

    @Test func whiteIsNoBrighterThanHighlightsAndDarkColorsStay() throws {
        func grey(_ light: Double) throws -> UInt8 {
            let word = UInt16((ToneReference.signal(pq: light) * 65_535).rounded())
            return try registry.decode(png([word, word, word], width: 1, bits: 16, points: [9, 16, 0, 1])).bitmap.bytes[
                0]
        }
        // 88 cd/m2 is where highlights begin; below, sRGB is what it was without them.
        for light in [0.0, 1, 5, 20, 50, 85] {
            let linear = light / 203
            let level = 255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055)
            #expect(try abs(Double(grey(light)) - level) < 0.6)
        }
        let levels = try [150, 203, 300, 450, 1_000, 4_000].map { Int(try grey($0)) }
        #expect(zip(levels, levels.dropFirst()).dropLast().allSatisfy { $0 + 2 < $1 })
        #expect(levels.suffix(2) == [255, 255])
    }

    @Test func colorsOfOtherCurvesAreWhatTheyWere() throws {
        let words = Self.words(64 * 8, seed: 6)
        for points: [UInt8] in [[], [1, 13, 0, 1], [1, 1, 0, 1]] {
            let bytes = try registry.decode(png(words, width: 64, bits: 16, points: points)).bitmap.bytes
            let stored = words.map { UInt8((UInt32($0) * 255 + 32_767) / 65_535) }
            for pixel in 0..<words.count / 3 {
                #expect(bytes[pixel * 4..<pixel * 4 + 3].reversed() == Array(stored[pixel * 3..<pixel * 3 + 3]))
            }
        }
    }

    // MARK: - ICC profiles

    private func png(_ words: [UInt16], profile: Data) -> Data {
        let packed = Packing().packed([UInt8](profile))
        return png(words, width: 32, bits: 16, points: [], chunks: [("iCCP", Data("name".utf8) + [0, 0] + packed)])
    }

    @Test(arguments: ToneReference.Curve.allCases)
    func codePointsOfAProfileCount(_ curve: ToneReference.Curve) throws {
        let words = Self.words(32 * 32, seed: 7)
        let profile = ProfileFile.withCodePoints([9, curve.rawValue, 0, 1])
        let data = png(words, profile: profile)
        try expect(registry.decode(data).bitmap, toShow: words, bits: 16, as: ToneReference(curve: curve))
        let stored = try registry.decode(data, options: DecodeOptions(color: .asStored))
        #expect(stored.colorProfile == profile)
        #expect(try stored.bitmap.bytes == registry.decode(png(words, width: 32, bits: 16, points: [])).bitmap.bytes)
    }

    /// The pixels of 8 bits are those that a decode of 8 bits makes, and the deep ones are the light that the code points name.
    @Test(arguments: ToneReference.Curve.allCases)
    func codePointsOfAProfileCountForDeepPixelsToo(_ curve: ToneReference.Curve) throws {
        let words = Self.words(32 * 32, seed: 11)
        let (named, plain) = (
            ProfileFile.withCodePoints([9, curve.rawValue, 0, 1]), [9, curve.rawValue, 0, 1] as [UInt8]
        )
        let space: NamedColorSpace = curve.rawValue == 16 ? .bt2020PQ : .bt2020HLG
        let options = DecodeOptions(depth: .init(colorSpace: space))
        let image = try registry.decode(png(words, profile: named), options: options)
        let other = try registry.decode(png(words, width: 32, bits: 16, points: plain), options: options)
        #expect(image.bitmap.bytes == other.bitmap.bytes)
        #expect(image.deepBitmap?.words == other.deepBitmap?.words)
    }

    /// Alpha changes nothing about the light.
    @Test(arguments: ToneReference.Curve.allCases)
    func deepPixelsOfEightBitsHaveTheirLightWithAlphaToo(_ curve: ToneReference.Curve) throws {
        let (words, points) = (Self.words(32 * 32, seed: 12), [9, curve.rawValue, 0, 1] as [UInt8])
        let options = DecodeOptions(depth: .init(.float16, colorSpace: .linearSRGB))
        let opaque = try registry.decode(png(words, width: 32, bits: 8, points: points), options: options)
        let other = try registry.decode(
            png(words, width: 32, bits: 8, points: points, hasAlpha: true), options: options)
        let (values, same) = (try #require(opaque.deepBitmap).values, try #require(other.deepBitmap).values)
        #expect(values.contains { $0 > 1.5 })
        #expect(zip(values, same).allSatisfy { abs($0 - $1) <= 0.002 * max(1, abs($0)) })
    }

    /// Code points of other curves, of video, or cut off: the table decides.
    @Test(arguments: [[9, 13, 0, 1], [9, 16, 9, 1], [9, 16, 0, 0], [77, 16, 0, 1], [9, 16], []] as [[UInt8]])
    func otherCodePointsOfAProfileDoNot(_ points: [UInt8]) throws {
        let bytes = try registry.decode(png(Self.words(32 * 4, seed: 8), profile: ProfileFile.withCodePoints(points)))
            .bitmap.bytes
        #expect(Set(stride(from: 0, to: bytes.count, by: 4).map { Array(bytes[$0..<$0 + 3]) }).count == 1)
        for length in [0, 11, Int(UInt32.max)] {
            let data = png(Self.words(32, seed: 9), profile: ProfileFile.withCodePoints(points, length: length))
            #expect(throws: Never.self) { try registry.decode(data) }
        }
    }

    // MARK: - Anything

    /// Whatever primaries and peak a file names, black is black, opaque pixels stay opaque and nothing traps.
    @Test func anyPrimariesAndPeaksAreConverted() throws {
        var random = FixedGenerator(state: 10)
        func point() -> ColorPrimaries.Point {
            ColorPrimaries.Point(.random(in: 0...1, using: &random), .random(in: 0...1, using: &random))
        }
        let peaks: [Double] = [.nan, .infinity, -.infinity, 0, -1, 1e-300, 1e300, 203, 1_000]
        let bitmap = try Bitmap(size: PixelSize(256, 3), isOpaque: true) { pixels in
            for index in 0..<pixels.count {
                let (x, channel) = (index / 4 % 256, index % 4)
                pixels[index] = channel == 3 ? 255 : channel == index / 1024 ? UInt8(x) : UInt8(x / 2)
            }
        }
        var converted = 0
        for index in 0..<500 {
            let primaries = ColorPrimaries(white: point(), red: point(), green: point(), blue: point())
            let curve = index % 5 == 0 ? TransferCurve.hlg : .pq
            let profile = ColorProfile.primaries(primaries, curve, peak: peaks[index % peaks.count])
            guard let transform = try ColorTransform.make(profile, isDeep: false) else { continue }
            let bytes = try transform.convert(bitmap).bytes
            #expect(Array(bytes[0..<4]) == [0, 0, 0, 255])
            #expect(stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 })
            converted += 1
        }
        #expect(converted > 100)
    }

    /// The white of the file becomes that of sRGB.
    @Test func whiteStaysWithoutColorWhateverItIs() throws {
        var primaries = ColorPrimaries.bt2020
        primaries.white = ColorPrimaries.Point(0.3457, 0.3585)
        let transform = try #require(try ColorTransform.make(.primaries(primaries, .hlg), isDeep: false))
        let greys = try Bitmap(size: PixelSize(256, 1), isOpaque: true) { pixels in
            for index in 0..<pixels.count { pixels[index] = index % 4 == 3 ? 255 : UInt8(index / 4) }
        }
        let bytes = try transform.convert(greys).bytes
        for pixel in stride(from: 0, to: bytes.count, by: 4) {
            let (least, most) = (bytes[pixel..<pixel + 3].min() ?? 0, bytes[pixel..<pixel + 3].max() ?? 255)
            #expect(most - least <= 1)
        }
        #expect(bytes.suffix(4).dropLast().allSatisfy { $0 >= 254 })
    }

    /// The files of both formats have the words of the fixture for AVIF.
    @Test(arguments: [("avif", ImageFormat.avif), ("heic", .heic)])
    func aThumbnailHasTheLightOfItsPicture(_ name: String, _ format: ImageFormat) throws {
        func expect(_ data: Data?, toBeFor level: Int) throws {
            let fixture = try #require(Fixture.all.first { $0.file == "hdr/pq-\(level).avif" })
            let bytes = try registry.decode(#require(data)).bitmap.bytes
            #expect(try largestDifference(bytes, fixture.goldenPixels()) ?? 255 <= 1)
        }
        func light(_ level: UInt16) -> Data {
            ThumbnailFile.box("clli", Data([UInt8(level >> 8), UInt8(level & 255), 0, 9]))
        }
        let picture = try Fixture.read("hdr/pq-10-bit.\(name)")
        var file = ThumbnailFile(picture, picture)
        file.parts[0].properties.append(light(400))
        try expect(file.data, toBeFor: 400)
        try expect(ISOThumbnail.file(in: file.data, format: format), toBeFor: 400)
        file.parts[1].properties.append(light(150))
        try expect(file.data, toBeFor: 400)
        try expect(ISOThumbnail.file(in: file.data, format: format), toBeFor: 150)
    }

    /// The light of a sequence without an item is in the description of its pictures.
    @Test func theLightOfASequenceIsFound() {
        func box(_ name: String, _ body: Data) -> Data { big32(UInt32(body.count + 8)) + Data(name.utf8) + body }
        func peak(_ boxes: Data) -> Double? {
            let format = box("stsd", Data(count: 8) + box("av01", Data(count: 78) + boxes))
            let track = box("trak", box("mdia", box("minf", box("stbl", format))))
            return box("moov", track).read { ISOContentLight.peak(of: $0, format: .avif) }
        }
        let display = box("mdcv", Data(count: 16) + big32(6_000_000, 0))
        #expect(peak(Data()) == nil)
        #expect(peak(box("clli", Data([0, 0, 1, 0]))) == nil)
        #expect(peak(box("clli", Data([1]))) == nil)
        #expect(peak(box("clli", Data([1, 0, 0, 9]))) == 256)
        #expect(peak(display) == 600)
        #expect(peak(display + box("clli", Data([1, 0, 0, 9]))) == 256)
    }
}
