import HalcyonImage
import Testing

@testable import HalcyonCodecs

/// The values that the limits just allow, and just refuse.
@Suite struct DecodeLimitsBoundaryTests {
    private let one = PixelSize(1, 1)

    private func info(_ width: Int, _ height: Int) -> ImageInfo {
        ImageInfo(format: .png, size: PixelSize(width, height))
    }

    /// Up to 16 megapixels no file is too small for its pixels.
    @Test func pixelsForEachByteCountBeyondSixteenMegapixels() throws {
        let limits = DecodeLimits(maximumPixelsPerByte: 1)
        let (few, many) = (info(4096, 4096), info(4096, 4097))
        let refusal = CodecError.limitExceeded("pixels per byte", value: 4096 * 4097, limit: 1)
        for bytes in [0, 1] {
            try limits.check(few, fileBytes: bytes)
            try limits.check(CodedExtent(few), of: few, fileBytes: bytes)
            #expect(throws: refusal) { try limits.check(many, fileBytes: bytes) }
            #expect(throws: refusal) { try limits.check(CodedExtent(many), of: many, fileBytes: bytes) }
        }
        try limits.check(many, fileBytes: 4096 * 4097)
        try limits.check(CodedExtent(many), of: many, fileBytes: 4096 * 4097)
    }

    /// Nor for those of all frames up to 1,024 megapixels.
    @Test func pixelsOfAllFramesForEachByteCountBeyondAGigapixel() throws {
        let limits = DecodeLimits(maximumTotalPixelsPerByte: 1)
        let info = info(1, 1)
        func check(_ pixels: Int, bytes: Int) throws {
            try limits.check(CodedExtent(largest: one, totalPixels: pixels), of: info, fileBytes: bytes)
        }
        for bytes in [0, 1] {
            try check(1 << 30, bytes: bytes)
            let refusal = CodecError.limitExceeded("pixels of all frames per byte", value: (1 << 30) + 1, limit: 1)
            #expect(throws: refusal) { try check((1 << 30) + 1, bytes: bytes) }
        }
        try check((1 << 30) + 1, bytes: 1 << 30)
    }

    /// The image itself is checked with its plan, which may decode fewer pixels.
    @Test func aPictureLargerThanTheImageIsChecked() throws {
        let limits = DecodeLimits(maximumPixels: 4)
        let info = info(4, 2)
        try limits.check(CodedExtent(info), of: info, fileBytes: 1)
        #expect(throws: CodecError.limitExceeded("pixels", value: 12, limit: 4)) {
            try limits.check(CodedExtent(largest: PixelSize(4, 3), totalPixels: 8), of: info, fileBytes: 1)
        }
    }

    @Test func theRatioIsThatOfTheLongerSide() throws {
        try DecodeLimits(maximumSideRatio: 1).check(info(100, 100))
        for (width, height) in [(100, 1), (1, 100), (100, 10), (10, 100)] {
            let ratio = 100 / min(width, height)
            try DecodeLimits(maximumSideRatio: ratio).check(info(width, height))
            #expect(throws: CodecError.limitExceeded("ratio of the sides", value: ratio, limit: ratio - 1)) {
                try DecodeLimits(maximumSideRatio: ratio - 1).check(info(width, height))
            }
        }
    }

    /// Another picture with as many pixels as the largest does not take its place.
    @Test func theFirstOfTheLargestPicturesCounts() {
        var extent = CodedExtent(largest: PixelSize(4, 9), totalPixels: 36)
        extent.add(PixelSize(9, 4))
        #expect(extent == CodedExtent(largest: PixelSize(4, 9), totalPixels: 72))
        extent.add(PixelSize(37, 1), pixels: 0)
        #expect(extent == CodedExtent(largest: PixelSize(37, 1), totalPixels: 72))
    }
}
