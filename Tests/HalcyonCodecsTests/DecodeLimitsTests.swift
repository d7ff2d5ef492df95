import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

@Suite struct DecodeLimitsTests {
    let registry = CoderRegistry.standard()

    private func decode(_ file: String, _ limits: DecodeLimits) throws -> Image {
        try registry.decode(Fixture.read(file), options: DecodeOptions(limits: limits))
    }

    @Test(arguments: ["bad/bomb-60000x60000.png", "bad/bomb-jpeg-65000x65000.jpg"])
    func bombsAreRefusedByTheirHeader(_ file: String) throws {
        let data = try Fixture.read(file)
        #expect(throws: CodecError.self) { try registry.decode(data) }
        // Nor does a small target let them in: the pixels have to be read all the same.
        let small = DecodeOptions(target: TargetSize(PixelSize(10, 10)))
        let error = #expect(throws: CodecError.self) { try registry.decode(data, options: small) }
        #expect(error?.code == "limitExceeded")
    }

    @Test func eachLimitIsKept() throws {
        let cases: [(String, DecodeLimits, CodecError)] = [
            ("png/rgb8.png", DecodeLimits(maximumPixels: 1535), .limitExceeded("pixels", value: 1536, limit: 1535)),
            ("jpeg/gray.jpg", DecodeLimits(maximumSide: 47), .limitExceeded("longest side", value: 48, limit: 47)),
            ("gif/animated.gif", DecodeLimits(maximumFrames: 3), .limitExceeded("frames", value: 4, limit: 3)),
            ("png/apng.png", DecodeLimits(maximumFrames: 2), .limitExceeded("frames", value: 3, limit: 2)),
            ("webp/animated.webp", DecodeLimits(maximumFrames: 2), .limitExceeded("frames", value: 3, limit: 2)),
        ]
        for (file, limits, expected) in cases {
            #expect(throws: expected) { try decode(file, limits) }
        }
        #expect(try decode("png/rgb8.png", DecodeLimits(maximumPixels: 1536, maximumSide: 48)).width == 48)
    }

    @Test func metadataIsCounted() throws {
        let error = #expect(throws: CodecError.self) {
            try decode("jpeg/large-exif.jpg", DecodeLimits(maximumMetadataBytes: 30_000))
        }
        #expect(error?.code == "limitExceeded")
        #expect(try decode("jpeg/large-exif.jpg", DecodeLimits(maximumMetadataBytes: 60_000)).width == 48)
        // Files with profiles have more.
        let large = ["color/", "jxl/inks", "jpeg/large-exif.jpg"]
        let small = Fixture.all.filter { fixture in !large.contains { fixture.file.hasPrefix($0) } }
        for fixture in small {
            _ = try decode(fixture.file, DecodeLimits(maximumMetadataBytes: 2_000))
        }
    }

    @Test func upscalingIsLimitedToo() throws {
        let target = TargetSize(PixelSize(40_000, 40_000), mode: .stretch, upscale: true)
        #expect(throws: CodecError.self) {
            try registry.decode(Fixture.read("png/1x1.png"), options: DecodeOptions(target: target))
        }
    }

    /// The pixels in the file may be more than those that are decoded, where rows or a scale spare the others.
    @Test(arguments: ["png/rgb8.png", "jpeg/gray.jpg"]) func whatIsDecodedIsLimited(file: String) throws {
        let limits = DecodeLimits(maximumPixels: 24 * 16)
        let error = #expect(throws: CodecError.self) { try decode(file, limits) }
        #expect(error == .limitExceeded("pixels", value: 48 * 32, limit: 24 * 16))
        let small = DecodeOptions(target: TargetSize(PixelSize(24, 16)), limits: limits)
        #expect(try registry.decode(Fixture.read(file), options: small).size == PixelSize(24, 16))
        let source = DecodeLimits(maximumPixels: 24 * 16, maximumSourcePixels: 48 * 32 - 1)
        #expect(throws: CodecError.limitExceeded("pixels in the file", value: 48 * 32, limit: 48 * 32 - 1)) {
            try registry.decode(
                Fixture.read(file), options: DecodeOptions(target: TargetSize(PixelSize(24, 16)), limits: source))
        }
    }

    /// The limit for the file alone is enough: nothing else permits more.
    @Test(arguments: ["png/rgb8.png", "jpeg/gray.jpg", "gif/animated.gif", "webp/animated.webp"])
    func theFileAloneIsLimited(file: String) throws {
        let data = try Fixture.read(file)
        let area = try #require(try registry.probe(data).size.area)
        for target in [nil, TargetSize(PixelSize(2, 2))] {
            var options = DecodeOptions(target: target)
            options.limits.maximumSourcePixels = area
            #expect(throws: Never.self) { try registry.decode(data, options: options) }
            options.limits.maximumSourcePixels = area - 1
            #expect(throws: CodecError.limitExceeded("pixels in the file", value: area, limit: area - 1)) {
                try registry.decode(data, options: options)
            }
        }
    }

    /// Neither rows nor a scale spare the pixels of these.
    @Test(arguments: ["gif/animated.gif", "png/adam7-rgba.png", "avif/420.avif"])
    func whatIsDecodedAsAWholeIsLimitedAsAWhole(file: String) throws {
        let options = DecodeOptions(target: TargetSize(PixelSize(5, 5)), limits: DecodeLimits(maximumPixels: 100))
        let error = #expect(throws: CodecError.self) { try registry.decode(Fixture.read(file), options: options) }
        #expect(error?.code == "limitExceeded")
    }

    @Test(arguments: [PixelSize(1, 65_535), PixelSize(65_535, 1)]) func theLongestLineIsAnImage(size: PixelSize) throws
    {
        let pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
        let bitmap = try Bitmap(size: size, isOpaque: false, pixels: pixels)
        let image = Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size, hasAlpha: true))
        let data = try registry.encode(image, as: .png)
        #expect(try registry.decode(data).size == size)
    }

    @Test func limitsByDefault() {
        let limits = DecodeLimits()
        #expect(limits.maximumPixels == 1 << 28)
        #expect(limits.maximumSide == 65_535)
        #expect(limits.maximumFrames == 10_000)
    }
}
