import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Deep pixels with the light of their source, and files of them.
@Suite struct DynamicRangeTests {
    let registry = CoderRegistry.standard()

    private func space(of file: String) -> NamedColorSpace {
        file.contains("/pq") ? .bt2020PQ : .bt2020HLG
    }

    @Test(arguments: [
        "hdr/pq-8-bit.avif", "hdr/pq-10-bit.avif", "hdr/pq-alpha.avif", "hdr/pq-p3.avif", "hdr/pq-12-bit.heic",
        "hdr/pq-16-bit.png", "hdr/pq-8-bit.png", "hdr/pq-16-bit.jxl", "hdr/pq-lossy.jxl", "deep/pq.png",
        "hdr/hlg-8-bit.avif", "hdr/hlg-10-bit.avif", "hdr/hlg-10-bit.heic", "hdr/hlg-16-bit.png", "hdr/hlg-alpha.png",
        "hdr/hlg-16-bit.jxl", "hdr/hlg-lossy.jxl",
    ])
    func aSourceOfPQOrHLGKeepsItsLight(_ file: String) throws {
        let data = try Fixture.read(file)
        for channels in DeepBitmap.Channels.allCases {
            let asked = DeepBitmap.Format(channels, colorSpace: .displayP3)
            let kept = try registry.decode(data, options: DecodeOptions(depth: asked, keepsDynamicRange: true))
            let named = DeepBitmap.Format(channels, colorSpace: space(of: file))
            let same = try registry.decode(data, options: DecodeOptions(depth: named))
            #expect(kept.deepBitmap?.format == named)
            #expect(kept.deepBitmap?.words == same.deepBitmap?.words)
            #expect(kept.bitmap.bytes == same.bitmap.bytes)
            #expect(try registry.decode(data, options: DecodeOptions(depth: asked)).deepBitmap?.format == asked)
        }
    }

    @Test(arguments: ["deep/rgb.png", "deep/display-p3.png", "deep/half.jxl", "jpeg/baseline-444.jpg", "color/p3.jpg"])
    func otherSourcesHaveTheSpaceThatWasAskedFor(_ file: String) throws {
        let data = try Fixture.read(file)
        for space in NamedColorSpace.allCases {
            let asked = DecodeOptions(depth: .init(colorSpace: space))
            var keeping = asked
            keeping.keepsDynamicRange = true
            let (one, other) = (
                try registry.decode(data, options: asked), try registry.decode(data, options: keeping)
            )
            #expect(one.deepBitmap?.format == asked.depth && other.deepBitmap?.format == asked.depth)
            #expect(one.deepBitmap?.words == other.deepBitmap?.words)
        }
    }

    @Test func withoutDepthThereIsNone() throws {
        let data = try Fixture.read("hdr/pq-10-bit.avif")
        #expect(try registry.decode(data, options: DecodeOptions(keepsDynamicRange: true)).deepBitmap == nil)
        let moving = try Fixture.read("hdr/pq-10-bit-sequence.avif")
        let options = DecodeOptions(depth: .init(), keepsDynamicRange: true)
        #expect(try registry.decode(moving, options: options).deepBitmap == nil)
        var still = options
        still.firstFrameOnly = true
        #expect(try registry.decode(moving, options: still).deepBitmap?.format.colorSpace == .bt2020PQ)
    }

    /// Written without a loss, a picture has the bits of its source again, and its light is named.
    @Test(
        arguments: ["hdr/pq-10-bit.avif", "hdr/hlg-10-bit.heic", "hdr/pq-alpha.avif"],
        [ImageFormat.avif, .jpegXL, .png])
    func theLightGoesFromFileToFile(_ file: String, _ format: ImageFormat) throws {
        let options = DecodeOptions(depth: .init(), keepsDynamicRange: true)
        let source = try registry.decode(Fixture.read(file), options: options)
        let data = try registry.encode(
            source, as: format, options: EncodeOptions(isLossless: true, bitsPerChannel: 12))
        let back = try registry.decode(data, options: options)
        #expect(back.deepBitmap?.format == .init(colorSpace: space(of: file)))
        let difference = try #require(largestDifference(back.deepBitmap?.words ?? [], source.deepBitmap?.words ?? []))
        // A step of 12 bits, which those of 10 are not among, and the rounding of alpha.
        #expect(difference <= (format == .avif ? 18 : 0))
    }

    /// With a loss, the light differs by a few hundredths of the signal at the most.
    @Test(arguments: NamedColorSpace.allCases, [ImageFormat.avif, .jpegXL])
    func aLossyFileHasTheSameLight(_ space: NamedColorSpace, _ format: ImageFormat) throws {
        let size = PixelSize(64, 64)
        let words = (0..<size.height).flatMap { (y: Int) -> [UInt16] in
            (0..<size.width).flatMap { (x: Int) -> [UInt16] in
                [UInt16(10_000 + x * 400), UInt16(12_000 + y * 400), UInt16(10_000 + (x + y) * 150), 65_535]
            }
        }
        let deep = try DeepBitmap(words: words, size: size, format: .init(colorSpace: space), isOpaque: true)
        let data = try registry.encode(
            try Image(deep), as: format, options: EncodeOptions(quality: 0.95, bitsPerChannel: 12))
        let back = try registry.decode(data, options: DecodeOptions(depth: deep.format))
        let found = try #require(back.deepBitmap).words
        try #require(found.count == words.count)
        let error = zip(words, found).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) } / Double(words.count)
        #expect(error.squareRoot() < 0.01 * 65_535, "\(space) \(format): \(error.squareRoot())")
    }

    /// A picture that is written again is shown as its source is, whose peak is not that of most pictures: the file has the light of
    /// its brightest pixel.
    @Test(arguments: [300.0, 4000, 4001, 10_000], [ImageFormat.png, .jpegXL])
    func theBrightestLightIsToldToOthers(_ light: Double, _ format: ImageFormat) throws {
        let most = UInt16(ToneReference.signal(pq: light) * 65_535)
        var words = try DeepBitmap.sample(PixelSize(24, 16)).words
        for place in words.indices where place % 4 != 3 {
            words[place] = UInt16(Int(words[place]) * Int(most) / 65_535)
        }
        words[0] = most
        let deep = try DeepBitmap(
            words: words, size: PixelSize(24, 16), format: .init(colorSpace: .bt2020PQ), isOpaque: true)
        let source = try Image(deep)
        let peak = ToneReference.light(pq: Double(most) / 65_535)
        let data = try registry.encode(source, as: format, options: EncodeOptions(isLossless: true, bitsPerChannel: 16))
        // JPEG XL has a half, and 10,000 is none of a statement.
        let step = max(1, exp2(log2(peak).rounded(.down) - 10))
        let half = min((peak.rounded(.up) / step).rounded(.up) * step, 9_992)
        let reference = ToneReference(curve: .pq, peak: format == .png ? peak : half)
        let bytes = try registry.decode(data).bitmap.bytes
        for pixel in 0..<words.count / 4 {
            let signal = words[pixel * 4..<pixel * 4 + 3].map { Double($0) / 65_535 }
            for (channel, level) in reference.levels(signal).enumerated() {
                #expect(abs(level - Double(bytes[pixel * 4 + 2 - channel])) < 0.6)
            }
        }
    }

    /// Files have colours that are not multiplied by their alpha, and programs map those.
    @Test(arguments: [DeepBitmap.Channels.uint16, .float16])
    func thePeakIsThatOfColoursWithoutTheirAlpha(_ channels: DeepBitmap.Channels) throws {
        let size = PixelSize(40, 30)
        let opaque = try DeepBitmap.sample(size, format: .init(colorSpace: .bt2020PQ))
        var words = opaque.words
        for pixel in 0..<words.count / 4 {
            let alpha = 20_000 + UInt32(pixel * 7919 % 45_000)
            for channel in 0..<3 {
                words[pixel * 4 + channel] = UInt16((UInt32(words[pixel * 4 + channel]) * alpha + 32_767) / 65_535)
            }
            words[pixel * 4 + 3] = UInt16(alpha)
        }
        let clear = try DeepBitmap(words: words, size: size, format: .init(colorSpace: .bt2020PQ), isOpaque: false)
        let format = DeepBitmap.Format(channels, colorSpace: .bt2020PQ)
        let (all, part) = (
            try #require(opaque.contentLight()), try #require(try clear.converted(to: format).contentLight())
        )
        #expect(abs(part.most / all.most - 1) < 0.02 && abs(part.mean / all.mean - 1) < 0.02)
    }

    /// The bitmap of a program's own pixels is that of the file which they are kept in.
    @Test func pixelsInPQAreMappedAsThoseOfAFile() throws {
        for hasAlpha in [false, true] {
            let deep = try DeepBitmap.sample(
                PixelSize(24, 16), format: .init(colorSpace: .bt2020PQ), hasAlpha: hasAlpha)
            let image = try Image(deep)
            let file = try registry.encode(image, as: .png, options: EncodeOptions(bitsPerChannel: 16))
            #expect(try #require(largestDifference(image.bitmap.bytes, registry.decode(file).bitmap.bytes)) <= 1)
        }
    }

    /// Averaged in linear light before anything is clipped, also where the file has 8 bits.
    @Test(arguments: ["hdr/pq-8-bit.png", "hdr/hlg-8-bit.avif"]) func aReductionInLinearLightKeepsTheLight(
        _ file: String
    ) throws {
        let data = try Fixture.read(file)
        let whole = try registry.decode(data, options: DecodeOptions(depth: .init(), keepsDynamicRange: true))
        let deep = try #require(whole.deepBitmap)
        let box = PixelSize(deep.width / 2, deep.height / 2)
        let options = DecodeOptions(
            target: TargetSize(box, light: .linear), depth: .init(), keepsDynamicRange: true)
        let reduced = try registry.decode(data, options: options)
        let expected = try deep.resampled(
            nil, ResizeGeometry(source: deep.size, box: box, mode: .fit, upscale: false), light: .linear)
        #expect(reduced.deepBitmap?.format == deep.format && deep.format.colorSpace.isBright)
        #expect(try #require(largestDifference(reduced.deepBitmap?.words ?? [], expected.words)) <= 1)
        let plain = try registry.decode(data, options: DecodeOptions(target: TargetSize(box, light: .linear)))
        #expect(reduced.bitmap.bytes == plain.bitmap.bytes)
        #expect(try registry.plan(data, options: options).workingBytes > 8 * deep.width * deep.height)
    }

    /// CTA-861.3: the brightest channel of all, and the mean of that of each pixel.
    @Test func aPNGHasTheLightOfItsContent() throws {
        let words = [0.2, 0.5, 0.1, 0.75, 0.3, 0, 0, 0, 0, 0.4, 0.4, 0.6].map { UInt16($0 * 65_535) }
        let pixels = stride(from: 0, to: 12, by: 3).flatMap { words[$0..<$0 + 3] + [65_535] }
        let deep = try DeepBitmap(
            words: pixels, size: PixelSize(2, 2), format: .init(colorSpace: .bt2020PQ), isOpaque: true)
        let png = try registry.encode(try Image(deep), as: .png, options: EncodeOptions(bitsPerChannel: 16))
        let place = try #require(png.range(of: Data("cLLI".utf8))).upperBound
        let numbers = [place, place + 4].map { Double(png[$0..<$0 + 4].reduce(0) { $0 << 8 | UInt32($1) }) / 10_000 }
        let lights = [0.5, 0.75, 0, 0.6].map { ToneReference.light(pq: Double(UInt16($0 * 65_535)) / 65_535) }
        #expect(abs(numbers[0] - (lights.max() ?? 0)) < 0.001 * numbers[0])
        #expect(abs(numbers[1] - lights.reduce(0, +) / 4) < 0.001 * numbers[1])
        // Not in HLG, whose light depends on its display.
        let other = try registry.encode(
            try Image(try deep.converted(to: .init(colorSpace: .bt2020HLG))), as: .png,
            options: EncodeOptions(bitsPerChannel: 16))
        #expect(other.range(of: Data("cLLI".utf8)) == nil)
    }

    /// ITU-T H.273: primaries, curve, matrix and range.
    private static let points: [NamedColorSpace: (png: [UInt8], avif: [UInt8])] = [
        .displayP3: ([12, 13, 0, 1], [0, 12, 0, 13, 0, 6, 0x80]),
        .bt2020PQ: ([9, 16, 0, 1], [0, 9, 0, 16, 0, 9, 0x80]),
        .bt2020HLG: ([9, 18, 0, 1], [0, 9, 0, 18, 0, 9, 0x80]), .linearSRGB: ([1, 8, 0, 1], [0, 1, 0, 8, 0, 6, 0x80]),
    ]

    @Test(arguments: NamedColorSpace.allCases)
    func filesNameTheirColours(_ space: NamedColorSpace) throws {
        let deep = try DeepBitmap.sample(PixelSize(8, 8), format: .init(colorSpace: space))
        let options = EncodeOptions(bitsPerChannel: 10)
        let (png, avif) = (
            try registry.encode(try Image(deep), as: .png, options: options),
            try registry.encode(try Image(deep), as: .avif, options: options)
        )
        let written = png.range(of: Data("cICP".utf8)).map { [UInt8](png[$0.upperBound...].prefix(4)) }
        #expect(written == Self.points[space]?.png)
        let box = try #require(avif.range(of: Data("colrnclx".utf8)))
        #expect([UInt8](avif[box.upperBound...].prefix(7)) == Self.points[space]?.avif ?? [0, 1, 0, 13, 0, 6, 0x80])
    }
}
