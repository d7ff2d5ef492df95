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
        let small = Fixture.all.filter { !$0.file.hasPrefix("color/") && $0.file != "jpeg/large-exif.jpg" }
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
}
