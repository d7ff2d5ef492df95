import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import Testing

/// More than 8 bits a channel, where a decode asks for them.
@Suite struct DeepDecodeTests {
    let registry = CoderRegistry.standard()

    @Test func theGoldensAreThere() {
        #expect(DeepFixture.all.count >= 20)
        #expect(Set(DeepFixture.all.map { String($0.file.suffix(4)) }).count >= 5)
    }

    @Test(arguments: DeepFixture.all)
    func decodesToItsGolden(_ fixture: DeepFixture) throws {
        let format = try fixture.format
        let image = try registry.decode(Fixture.read(fixture.file), options: DecodeOptions(depth: format))
        let deep = try #require(image.deepBitmap)
        #expect(deep.format == format)
        #expect(deep.size == PixelSize(fixture.width, fixture.height) && image.size == deep.size)
        let golden = try fixture.goldenWords()
        let expected = format.channels == .uint16 ? premultiplied(golden) : golden
        let difference = try #require(largestDifference(deep.words, expected))
        #expect(difference <= fixture.tolerance)
        let words = deep.words
        let isFull = stride(from: 3, to: words.count, by: 4).allSatisfy { words[$0] == golden[3] }
        #expect(!deep.isOpaque || isFull)
    }

    /// The pixels of 8 bits are those that a decode without depth makes, for TIFF and HEIC but for one rounding.
    @Test(arguments: DeepFixture.all)
    func theOtherPixelsStayAsTheyWere(_ fixture: DeepFixture) throws {
        let data = try Fixture.read(fixture.file)
        let image = try registry.decode(data, options: DecodeOptions(depth: try fixture.format))
        let plain = try registry.decode(data)
        let difference = try #require(largestDifference(image.bitmap.bytes, plain.bitmap.bytes))
        #expect(difference <= 1)
        #expect(image.info == plain.info)
        #expect(plain.deepBitmap == nil)
        #expect(image.cost == plain.cost + image.width * image.height * 8)
    }

    /// Other files of more than 8 bits, against their pixels of 8 bits, which another path has made. Left out are those that
    /// it clips before the primaries are mixed (PQ), shows in the light of the scene (HLG), or rounds before the conversion (TIFF with a
    /// profile).
    private static let others = Fixture.all.filter { fixture in
        fixture.bitsPerChannel > 8 && fixture.frames == 1
            && !["hlg", "pq-", "color/16-"].contains { fixture.file.contains($0) }
    }

    @Test(arguments: others)
    func theUpperBitsAreThoseOfEightBits(_ fixture: Fixture) throws {
        #expect(Self.others.count > 40)
        let data = try fixture.data()
        let (plain, image) = (
            try registry.decode(data), try registry.decode(data, options: DecodeOptions(depth: .init()))
        )
        #expect(try #require(largestDifference(image.bitmap.bytes, plain.bitmap.bytes)) <= 1)
        let words = try #require(image.deepBitmap).words
        let bytes = stride(from: 0, to: words.count, by: 4).flatMap { (pixel: Int) -> [UInt8] in
            [2, 1, 0, 3].map { UInt8((Int(words[pixel + $0]) * 255 + 32767) / 65535) }
        }
        #expect(try #require(largestDifference(bytes, plain.bitmap.bytes)) <= 2)
    }

    @Test func multipliedColoursStay() throws {
        let data = try Fixture.read("deep/multiplied.tiff")
        let deep = try #require(try registry.decode(data, options: DecodeOptions(depth: .init())).deepBitmap)
        #expect(deep.words == (try DeepFixture.words("deep/multiplied-tiff.rgba16")))
    }

    @Test(arguments: ["jpeg/baseline-444.jpg", "webp/lossless-alpha.webp", "deep/rgb.png"])
    func aSourceOfEightBitsIsWidened(_ file: String) throws {
        let png = file.hasSuffix("png")
        let data = png ? try registry.encode(try registry.decode(Fixture.read(file)), as: .png) : try Fixture.read(file)
        let image = try registry.decode(data, options: DecodeOptions(depth: .init()))
        let deep = try #require(image.deepBitmap)
        let bytes = image.bitmap.bytes
        let wide = stride(from: 0, to: bytes.count, by: 4).flatMap { (pixel: Int) -> [UInt16] in
            [2, 1, 0, 3].map { UInt16(bytes[pixel + $0]) * 257 }
        }
        #expect(deep.words == wide)
        #expect(deep.isOpaque == image.bitmap.isOpaque)
    }

    @Test func animationsHaveNoneUnlessTheyBecomeStill() throws {
        let data = try Fixture.read("animation/mixed-over.png")
        let moving = try registry.decode(data, options: DecodeOptions(depth: .init()))
        #expect(moving.animation != nil && moving.deepBitmap == nil)
        let still = try registry.decode(data, options: DecodeOptions(firstFrameOnly: true, depth: .init()))
        #expect(still.animation == nil)
        #expect(still.deepBitmap?.size == still.size)
    }

    /// The chunks of a PNG with their names, made an APNG of two frames, of which the default image is the first or none.
    private func animated(_ png: Data, beginsWithImage: Bool) -> Data {
        func big32(_ values: Int...) -> Data {
            values.reduce(into: Data()) { data, value in
                withUnsafeBytes(of: UInt32(value).bigEndian) { data.append(contentsOf: $0) }
            }
        }
        func control(_ sequence: Int) -> Data {
            CraftedFile.chunk("fcTL", big32(sequence, 37, 23, 0, 0) + Data([0, 1, 0, 10, 0, 0]))
        }
        // The header is 33 bytes, the end chunk 12; one chunk of pixels is between them.
        let (head, pixels, end) = (png.prefix(33), png.dropFirst(33).dropLast(12), png.suffix(12))
        let body = Data(pixels.dropFirst(8).dropLast(4))
        var file = head + CraftedFile.chunk("acTL", big32(2, 0))
        var sequence = 0
        if beginsWithImage { (file, sequence) = (file + control(0), 1) }
        file += pixels
        for _ in 0..<(beginsWithImage ? 1 : 2) {
            file += control(sequence) + CraftedFile.chunk("fdAT", big32(sequence + 1) + body)
            sequence += 2
        }
        return file + end
    }

    @Test func theFirstFrameOfAnAPNGHasAllBitsIfItIsTheImage() throws {
        let png = try Fixture.read("deep/rgb.png")
        let options = DecodeOptions(firstFrameOnly: true, depth: .init())
        let file = animated(png, beginsWithImage: true)
        #expect(try registry.probe(file).frameCount == 2)
        let image = try registry.decode(file, options: options)
        #expect(image.deepBitmap?.words == (try DeepFixture.words("deep/deep-rgb-png.rgba16")))
        #expect(try registry.decode(file, options: DecodeOptions(depth: .init())).deepBitmap == nil)
        // Frames are drawn in 8 bits.
        let notice = try registry.decode(animated(png, beginsWithImage: false), options: options)
        #expect(notice.info.frameCount == 2)
        #expect(try #require(notice.deepBitmap).words.allSatisfy { $0 % 257 == 0 })
    }

    @Test func thePixelsAreTurned() throws {
        let data = try Fixture.read("deep/turned.png")
        let image = try registry.decode(data, options: DecodeOptions(depth: .init()))
        let deep = try #require(image.deepBitmap)
        #expect(image.size == PixelSize(23, 37) && deep.size == image.size)
        let stored = try DeepFixture.words("deep/deep-rgb-png.rgba16")
        // A quarter turn to the right: the stored left column is the top row, from the bottom up.
        for (x, y) in [(0, 0), (22, 0), (5, 30), (22, 36)] {
            let source = ((22 - x) * 37 + y) * 4
            let pixel = try #require(deep.pixel(x: x, y: y))
            #expect([pixel.red, pixel.green, pixel.blue] == (0..<3).map { Float(stored[source + $0]) / 65535 })
        }
    }

    @Test func aRegionAndASizeApplyToBoth() throws {
        let data = try Fixture.read("deep/rgba.png")
        let region = PixelRect(x: 5, y: 3, width: 20, height: 16)
        let cut = try registry.decode(data, options: DecodeOptions(region: region, depth: .init()))
        let whole = try #require(try registry.decode(data, options: DecodeOptions(depth: .init())).deepBitmap)
        let deep = try #require(cut.deepBitmap)
        #expect(cut.size == region.size && deep.size == region.size)
        let (left, right) = (try #require(deep.pixel(x: 4, y: 7)), try #require(whole.pixel(x: 9, y: 10)))
        #expect(left == right)
        let small = try registry.decode(
            data, options: DecodeOptions(target: TargetSize(PixelSize(10, 10)), depth: .init()))
        #expect(small.deepBitmap?.size == small.size)
        #expect(small.size == PixelSize(10, 6))
    }

    @Test(arguments: ["deep/rgb.png", "avif/10-bit.avif", "jxl/16-bit.jxl", "tiff/rgb16.tiff", "heic/10-bit.heic"])
    func aFileThatIsCutOffIsDamaged(_ file: String) throws {
        let data = try Fixture.read(file)
        for part in [data.count / 2, data.count * 3 / 4] {
            #expect(throws: CodecError.self) {
                try registry.decode(data.prefix(part), options: DecodeOptions(depth: .init()))
            }
        }
    }

    @Test func whatThereIsOfAFileIsWidened() throws {
        let data = try Fixture.read("deep/rgb.png")
        let image = try registry.decode(
            data.prefix(data.count / 2), options: DecodeOptions(allowsIncomplete: true, depth: .init()))
        #expect(image.info.isPreview)
        #expect(image.deepBitmap?.size == image.size)
    }

    @Test(arguments: ["deep/rgb.png", "avif/10-bit.avif", "jxl/16-bit.jxl", "tiff/rgb16.tiff", "heic/10-bit.heic"])
    func flippedBitsAreAnErrorOrAnImage(_ file: String) throws {
        let data = try Fixture.read(file)
        var chance = FixedGenerator(state: 7)
        for _ in 0..<60 {
            var broken = data
            for _ in 0..<3 {
                let place = Int.random(in: 0..<data.count, using: &chance)
                broken[place] ^= 1 << UInt8.random(in: 0...7, using: &chance)
            }
            do {
                let format = DeepBitmap.Format(.float16, colorSpace: .linearSRGB)
                let image = try registry.decode(broken, options: DecodeOptions(depth: format))
                if !image.info.isAnimated { #expect(image.deepBitmap?.size == image.size) }
            } catch let error {
                #expect(error is CodecError || error is BitmapError)
            }
        }
    }

    @Test func theMemoryIsReserved() throws {
        let data = try Fixture.read("deep/rgb.png")
        let plain = try registry.plan(data)
        let deep = try registry.plan(data, options: DecodeOptions(depth: .init()))
        #expect(deep != plain)
        #expect(deep.workingBytes - plain.workingBytes == 37 * 23 * 8)
        let small = DecodeOptions(target: TargetSize(PixelSize(8, 8)), depth: .init())
        // The stored pixels of both kinds, and the results.
        #expect(try registry.plan(data, options: small).workingBytes >= 37 * 23 * 12 + 8 * 5 * 12)
        let poor = CoderRegistry(CoderRegistry.standard().coders, budget: DecodeBudget(capacity: 37 * 23 * 12 - 1))
        #expect(throws: CodecError.self) { try poor.decode(data, options: DecodeOptions(depth: .init())) }
        #expect(try poor.decode(data).size == PixelSize(37, 23))
    }

    @Test func theLimitsApply() throws {
        let data = try Fixture.read("deep/rgb.png")
        let options = DecodeOptions(limits: DecodeLimits(maximumPixels: 100), depth: .init())
        #expect(throws: CodecError.self) { try registry.decode(data, options: options) }
    }

    @Test(arguments: ["deep/rgb.png", "avif/10-bit.avif", "jxl/16-bit.jxl", "tiff/rgb16.tiff", "heic/10-bit.heic"])
    func aCancelledDecodeEnds(_ file: String) throws {
        let data = try Fixture.read(file)
        #expect(throws: CancellationError.self) {
            try registry.decode(data, options: DecodeOptions(depth: .init()), context: WorkContext { true })
        }
    }

    @Test func theThumbnailIsNotUsed() throws {
        let data = try Fixture.read("deep/rgb.png")
        var options = DecodeOptions(target: TargetSize(PixelSize(8, 8)), depth: .init())
        options.usesEmbeddedThumbnail = true
        #expect(try registry.decode(data, options: options).deepBitmap != nil)
    }

    @Test func previewsHaveNone() throws {
        let data = try Fixture.read("deep/rgb.png")
        let decoding = try #require(registry.makeProgressive(for: data, options: DecodeOptions(depth: .init())))
        try decoding.append(data, context: .uncancellable)
        #expect(try decoding.finish(context: .uncancellable).deepBitmap == nil)
    }

    @Test func theKeysDiffer() {
        func key(_ options: DecodeOptions) -> [UInt8] {
            var encoder = KeyEncoder()
            options.encode(into: &encoder)
            return encoder.bytes
        }
        var keys = [key(DecodeOptions()), key(DecodeOptions(target: TargetSize(PixelSize(9, 9), light: .linear)))]
        for channels in DeepBitmap.Channels.allCases {
            for space in NamedColorSpace.allCases {
                keys.append(key(DecodeOptions(depth: .init(channels, colorSpace: space))))
            }
        }
        #expect(Set(keys).count == keys.count)
    }
}
