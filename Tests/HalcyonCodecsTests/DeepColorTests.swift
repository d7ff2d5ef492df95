import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Colours of 16 bits a channel from one named space to another, against the formulas of the standards.
@Suite struct DeepColorTests {
    private func pixel(
        _ values: [Double], in source: DeepBitmap.Format, as target: DeepBitmap.Format
    ) throws -> [Double] {
        let words = values.map { value in
            source.channels == .float16 ? Float16(value).bitPattern : UInt16((value * 65535).rounded())
        }
        let deep = try DeepBitmap(words: words, size: PixelSize(1, 1), format: source, isOpaque: values[3] == 1)
        return try deep.converted(to: target).values
    }

    private func isNear(_ left: [Double], _ right: [Double], _ tolerance: Double) -> Bool {
        zip(left, right).allSatisfy { abs($0 - $1) <= tolerance * max(1, abs($1)) }
    }

    private let linear = DeepBitmap.Format(.float16, colorSpace: .linearSRGB)

    @Test func everyHalfIsReadAsItIs() throws {
        let words: [UInt16] = (0...UInt16.max).flatMap { (word: UInt16) -> [UInt16] in [word, 0, 0, 0x3C00] }
        let deep = try DeepBitmap(words: words, size: PixelSize(256, 256), format: linear, isOpaque: true)
        for word in 0...UInt16.max {
            let half = Float16(bitPattern: word)
            guard half.isFinite else { continue }
            #expect(deep.pixel(x: Int(word) % 256, y: Int(word) / 256)?.red == Float(half))
        }
    }

    /// Each is the half that is nearest to the number.
    @Test func everyIntegerIsRoundedToTheNearestHalf() throws {
        let words: [UInt16] = (0...UInt16.max).flatMap { (word: UInt16) -> [UInt16] in [word, word, word, 65535] }
        let deep = try DeepBitmap(words: words, size: PixelSize(256, 256), isOpaque: true)
        let halfs = try deep.converted(to: .init(.float16)).words
        for word in 0...UInt16.max {
            let half = Float16(bitPattern: halfs[Int(word) * 4])
            let error = abs(Double(half) - Double(word) / 65535)
            #expect(error <= Double(half.ulp) * 0.5001)
        }
        let back = try deep.converted(to: .init(.float16)).converted(to: .init()).words
        #expect(try #require(largestDifference(back, words)) <= 16)
    }

    @Test func pqIsAbsoluteLight() throws {
        // SMPTE ST 2084: the values of 0.1, 100, 203, 1,000 and 10,000 cd/m2.
        for (value, light) in [(0.0622, 0.1), (0.508078, 100), (0.580689, 203), (0.751827, 1000), (1, 10_000)] {
            let gray = try pixel([value, value, value, 1], in: .init(colorSpace: .bt2020PQ), as: linear)
            #expect(isNear(gray, [light / 203, light / 203, light / 203, 1], light < 1 ? 0.001 : 0.003))
            let back = try pixel(
                [light / 203, light / 203, light / 203, 1], in: linear, as: .init(colorSpace: .bt2020PQ))
            #expect(isNear(back, [value, value, value, 1], 0.001))
        }
    }

    @Test func hlgIsShownOnADisplayOfAThousand() throws {
        // ITU-R BT.2408: 75 % is 203 cd/m2. BT.2100: all of the signal is the display's peak.
        for (value, light) in [(0.75, 203.0), (1, 1000), (0.5, 1000 * pow(1.0 / 12, 1.2)), (0, 0)] {
            let gray = try pixel([value, value, value, 1], in: .init(colorSpace: .bt2020HLG), as: linear)
            #expect(isNear(gray, [light / 203, light / 203, light / 203, 1], 0.003))
        }
        let white = try pixel([1, 1, 1, 1], in: .init(), as: .init(colorSpace: .bt2020HLG))
        #expect(isNear(white, [0.75, 0.75, 0.75, 1], 0.001))
    }

    @Test func primariesAreMixed() throws {
        // The red of Display P3 in the light of sRGB, by the matrices of CSS Color 4.
        let red = try pixel([1, 0, 0, 1], in: .init(.float16, colorSpace: .displayP3), as: linear)
        #expect(isNear(red, [1.2249402, -0.0420570, -0.0196376, 1], 0.001))
        let clipped = try pixel([1, 0, 0, 1], in: .init(colorSpace: .displayP3), as: .init(colorSpace: .linearSRGB))
        #expect(clipped == [1, 0, 0, 1])
        // The red of sRGB in Display P3.
        let inside = try pixel([1, 0, 0, 1], in: .init(), as: .init(colorSpace: .displayP3))
        #expect(isNear(inside, [0.917488, 0.200287, 0.138561, 1], 0.0005))
        // White is white, at 203 cd/m2.
        for space in [NamedColorSpace.sRGB, .displayP3, .linearSRGB] {
            let white = try pixel([1, 1, 1, 1], in: .init(colorSpace: space), as: .init(colorSpace: .bt2020PQ))
            #expect(isNear(white, [0.580689, 0.580689, 0.580689, 1], 0.0001))
        }
    }

    @Test func brightLightStaysInFloatsAndIsClippedInIntegers() throws {
        let bright = [4.0, 2, 0.5, 1]
        #expect(
            try pixel(bright, in: linear, as: .init(.uint16, colorSpace: .linearSRGB)) == [1, 1, 32768.0 / 65535, 1])
        let there = try pixel(bright, in: linear, as: .init(.float16, colorSpace: .sRGB))
        #expect(isNear(there, [1.8248, 1.3534, 0.7354, 1], 0.002))
        let pq = try pixel(bright, in: linear, as: .init(.uint16, colorSpace: .bt2020PQ))
        let back = try pixel(pq, in: .init(.uint16, colorSpace: .bt2020PQ), as: linear)
        #expect(isNear(back, bright, 0.004))
    }

    /// There and back again, within what the integers of the other space can tell apart.
    @Test(arguments: NamedColorSpace.allCases, [false, true])
    func aSpaceThatHoldsAllOfSRGBGivesItBack(_ space: NamedColorSpace, hasAlpha: Bool) throws {
        let deep = try DeepBitmap.sample(PixelSize(64, 48), hasAlpha: hasAlpha)
        let there = try deep.converted(to: .init(.uint16, colorSpace: space))
        #expect(there.format.colorSpace == space && there.isOpaque == deep.isOpaque)
        let back = try there.converted(to: .init())
        let difference = try #require(largestDifference(back.values, deep.values))
        // Linear light is coarse in the shadows, where sRGB is 12.92 times as fine.
        #expect(difference <= 0.0015)
    }

    @Test func theSameFormatIsTheSameBitmap() throws {
        let deep = try DeepBitmap.sample(PixelSize(4, 4), hasAlpha: true)
        #expect(try deep.converted(to: .init()) === deep)
    }

    /// A table for many pixels, and the formula for a few.
    @Test func manyPixelsAreConvertedAsFewAre() throws {
        let many = try DeepBitmap.sample(PixelSize(300, 300), format: .init(colorSpace: .bt2020PQ))
        let few = try many.cropped(to: PixelRect(x: 0, y: 0, width: 300, height: 20))
        let target = DeepBitmap.Format(.uint16, colorSpace: .displayP3)
        let (left, right) = (try many.converted(to: target).words, try few.converted(to: target).words)
        #expect(try #require(largestDifference(Array(left.prefix(right.count)), right)) <= 1)
    }

    @Test func aFileKeepsItsOwnSpace() throws {
        let registry = CoderRegistry.standard()
        let golden = try DeepFixture.words("deep/deep-rgb-png.rgba16")
        for (file, space) in [("deep/display-p3.png", NamedColorSpace.displayP3), ("deep/pq.png", .bt2020PQ)] {
            let image = try registry.decode(
                Fixture.read(file), options: DecodeOptions(depth: .init(colorSpace: space)))
            #expect(image.deepBitmap?.words == golden)
            let other = try registry.decode(Fixture.read(file), options: DecodeOptions(depth: linear))
            let expected = try #require(image.deepBitmap).converted(to: linear)
            #expect(other.deepBitmap?.words == expected.words)
        }
    }

    /// Colours with an alpha of their own are not converted before they are widened.
    @Test(arguments: [(2, 8), (3, 8), (3, 1)]) func transparentColoursOfAPNGKeepTheirSpace(kind: Int, bits: Int) throws
    {
        let isIndexed = kind == 3
        let file = PNGFile(
            width: 2, height: 1, kind: kind, bits: bits, palette: isIndexed ? [255, 0, 0, 0, 0, 255] : [],
            alpha: isIndexed ? [255, 0] : [0, 0, 0, 0, 0, 255])
        let row: [UInt8] = !isIndexed ? [0, 255, 0, 0, 0, 0, 255] : bits == 8 ? [0, 0, 1] : [0, 0b0100_0000]
        var data = file.data(Packing().packed(row))
        data.insert(contentsOf: CraftedFile.chunk("cICP", Data([12, 13, 0, 1])), at: 33)
        let options = DecodeOptions(depth: .init(colorSpace: .displayP3))
        let deep = try #require(try CoderRegistry.standard().decode(data, options: options).deepBitmap)
        #expect(deep.words == [65535, 0, 0, 65535, 0, 0, 0, 0])
    }

    /// A profile is read by lcms2, the same primaries and curve by their formulas.
    @Test func aProfileOfDisplayP3IsDisplayP3() throws {
        let registry = CoderRegistry.standard()
        let file = try Fixture.read("color/rgb8-p3.png")
        let kept = try registry.decode(
            file, options: DecodeOptions(color: .asStored, depth: .init(colorSpace: .displayP3)))
        let bytes = kept.bitmap.bytes
        let words = try #require(kept.deepBitmap).words
        let expected = stride(from: 0, to: bytes.count, by: 4).flatMap { (pixel: Int) -> [UInt16] in
            [2, 1, 0, 3].map { UInt16(bytes[pixel + $0]) * 257 }
        }
        #expect(words == expected)
        let light = try registry.decode(file, options: DecodeOptions(depth: linear))
        let formulas = try #require(kept.deepBitmap).converted(to: linear)
        #expect(try #require(largestDifference(light.deepBitmap?.values ?? [], formulas.values)) <= 0.002)
        #expect(formulas.values.contains { $0 < -0.001 || $0 > 1.001 })
    }

    @Test func aBrokenProfileIsSRGB() throws {
        let registry = CoderRegistry.standard()
        var picture = try registry.decode(Fixture.read("deep/rgb.png"))
        picture.colorProfile = Data(repeating: 7, count: 200)
        let file = try registry.encode(picture, as: .jpeg)
        let image = try registry.decode(file, options: DecodeOptions(depth: .init()))
        let red = Float(try #require(image.bitmap.pixel(x: 3, y: 3)).red)
        #expect(image.deepBitmap?.pixel(x: 3, y: 3)?.red == red * 257 / 65535)
    }
}
