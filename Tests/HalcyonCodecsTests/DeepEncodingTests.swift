import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Files of more than 8 bits a channel.
@Suite struct DeepEncodingTests {
    let registry = CoderRegistry.standard()

    private func decode(_ data: Data, _ format: DeepBitmap.Format = .init()) throws -> DeepBitmap {
        try #require(try registry.decode(data, options: DecodeOptions(depth: format)).deepBitmap)
    }

    @Test(arguments: ["deep/rgb.png", "deep/gray.png", "jxl/16-bit.jxl"])
    func aPNGKeepsEveryBitOfAnOpaqueImage(_ file: String) throws {
        let image = try registry.decode(Fixture.read(file), options: DecodeOptions(depth: .init()))
        let data = try registry.encode(image, as: .png, options: EncodeOptions(bitsPerChannel: 16))
        #expect(try registry.probe(data).bitsPerChannel == 16)
        #expect(try registry.probe(data).hasAlpha == false)
        #expect(try decode(data).words == image.deepBitmap?.words)
    }

    /// The multiplied pixels come back as they were, and straight ones within what their alpha leaves of them.
    @Test(arguments: [ImageFormat.png, .jpegXL])
    func alphaComesBack(_ format: ImageFormat) throws {
        let image = try registry.decode(Fixture.read("deep/rgba.png"), options: DecodeOptions(depth: .init()))
        let data = try registry.encode(image, as: format, options: EncodeOptions(isLossless: true, bitsPerChannel: 16))
        #expect(try registry.probe(data).hasAlpha)
        #expect(try decode(data).words == image.deepBitmap?.words)
    }

    @Test(arguments: NamedColorSpace.allCases, [ImageFormat.png, .jpegXL])
    func everySpaceIsNamedInTheFile(_ space: NamedColorSpace, _ format: ImageFormat) throws {
        let deep = try DeepBitmap.sample(PixelSize(31, 17), format: .init(colorSpace: space))
        let options = EncodeOptions(isLossless: true, bitsPerChannel: 16)
        let data = try registry.encode(try Image(deep), as: format, options: options)
        #expect(try decode(data, deep.format).words == deep.words)
    }

    @Test(arguments: NamedColorSpace.allCases, [10, 12])
    func avifKeepsItsBits(_ space: NamedColorSpace, _ bits: Int) throws {
        let deep = try DeepBitmap.sample(PixelSize(32, 16), format: .init(colorSpace: space), hasAlpha: bits == 12)
        let options = EncodeOptions(isLossless: true, bitsPerChannel: bits)
        let data = try registry.encode(try Image(deep), as: .avif, options: options)
        #expect(try registry.probe(data).bitsPerChannel == bits)
        let back = try decode(data, deep.format)
        // Half a step of the file, and the rounding of alpha.
        #expect(try #require(largestDifference(back.words, deep.words)) <= 65_535 / ((1 << bits) - 1) + 2)
    }

    @Test func aLossyAVIFIsFinerThanEightBits() throws {
        let size = PixelSize(256, 64)
        let words = (0..<size.height).flatMap { _ in
            (0..<size.width).flatMap { (x: Int) -> [UInt16] in
                [UInt16(20_000 + x * 40), UInt16(30_000 + x * 20), 12_345, 65_535]
            }
        }
        let image = try Image(try DeepBitmap(words: words, size: size, isOpaque: true))
        let data = try registry.encode(image, as: .avif, options: EncodeOptions(quality: 0.95, bitsPerChannel: 12))
        let back = try decode(data).words
        let error = zip(words, back).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) } / Double(words.count)
        // A step of 8 bits is 257.
        #expect(error.squareRoot() < 128)
    }

    @Test func halfsStayHalfsInJPEGXL() throws {
        let light = DeepBitmap.Format(.float16, colorSpace: .linearSRGB)
        let words = (0..<40 * 20).flatMap { (pixel: Int) -> [UInt16] in
            [Float16(pixel) / 100, Float16(-0.25), Float16(0.5), 1].map(\.bitPattern)
        }
        let deep = try DeepBitmap(words: words, size: PixelSize(40, 20), format: light, isOpaque: true)
        let data = try registry.encode(
            try Image(deep), as: .jpegXL, options: EncodeOptions(isLossless: true, bitsPerChannel: 16))
        #expect(try decode(data, light).words == words)
        // A PNG has integers: what is brighter is clipped.
        let png = try registry.encode(try Image(deep), as: .png, options: EncodeOptions(bitsPerChannel: 16))
        let clipped = words.map { UInt16((min(max(Double(Float16(bitPattern: $0)), 0), 1) * 65_535).rounded()) }
        #expect(try #require(largestDifference(try decode(png, .init(colorSpace: .linearSRGB)).words, clipped)) <= 1)
    }

    @Test func nothingChangesWhereNobodyAsks() throws {
        let data = try Fixture.read("deep/rgb.png")
        let deep = try registry.decode(data, options: DecodeOptions(depth: .init()))
        let plain = try registry.decode(data)
        for format in [ImageFormat.png, .avif, .jpegXL, .webp, .jpeg] {
            #expect(try registry.encode(deep, as: format) == registry.encode(plain, as: format))
        }
        for format in [ImageFormat.webp, .jpeg, .qoi] {
            let options = EncodeOptions(bitsPerChannel: 16)
            #expect(try registry.encode(deep, as: format, options: options) == registry.encode(plain, as: format))
        }
        let options = EncodeOptions(bitsPerChannel: 16)
        #expect(try registry.probe(registry.encode(plain, as: .png, options: options)).bitsPerChannel == 8)
        #expect(
            try registry.probe(registry.encode(deep, as: .png, options: EncodeOptions(bitsPerChannel: 8)))
                .bitsPerChannel == 8)
    }

    @Test(arguments: [0, 17, -1, Int.max])
    func otherNumbersOfBitsAreRefused(_ bits: Int) throws {
        let image = try registry.decode(Fixture.read("deep/rgb.png"), options: DecodeOptions(depth: .init()))
        #expect(throws: CodecError.self) {
            try registry.encode(image, as: .png, options: EncodeOptions(bitsPerChannel: bits))
        }
    }

    @Test(arguments: [ImageFormat.png, .avif, .jpegXL])
    func orientationAndSizeApply(_ format: ImageFormat) throws {
        let image = try registry.decode(Fixture.read("deep/turned.png"), options: DecodeOptions(depth: .init()))
        let options = EncodeOptions(isLossless: true, keepsOrientation: true, bitsPerChannel: 16)
        let data = try registry.encode(image, as: format, options: options)
        #expect(try registry.probe(data).orientation == .right)
        let back = try decode(data)
        #expect(back.size == image.size)
        let step = format == .avif ? 17 : 0
        #expect(try #require(largestDifference(back.words, image.deepBitmap?.words ?? [])) <= step)
        let small = try registry.encode(image, as: format, options: EncodeOptions(maximumSide: 12, bitsPerChannel: 16))
        #expect(try decode(small).size == PixelSize(7, 12))
        #expect(try registry.probe(small).bitsPerChannel > 8)
    }

    @Test func theKeysOfEncodingsDiffer() {
        func key(_ bits: Int?) -> [UInt8] {
            var encoder = KeyEncoder()
            EncodeOptions(bitsPerChannel: bits).encode(into: &encoder)
            return encoder.bytes
        }
        #expect(Set([key(nil), key(10), key(12), key(16)]).count == 4)
    }

    @Test func theCapabilitiesAreStated() {
        let deep = registry.capabilities.filter(\.decodesDeep).map(\.format.name)
        #expect(Set(deep) == ["png", "avif", "heic", "jxl", "tiff"])
        #expect(Set(registry.capabilities.filter(\.encodesDeep).map(\.format.name)) == ["png", "avif", "jxl"])
    }
}
