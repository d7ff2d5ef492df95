import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

@Suite struct EncodeOptionsTests {
    let coders = CoderRegistry.standard()

    @Test func theQualityIs85PercentByDefault() throws {
        #expect(EncodeOptions().quality == 0.85)
        let image = try sampleImage(PixelSize(64, 48))
        let data = try image.data(as: .jpeg)
        #expect(try data == image.data(as: .jpeg, options: EncodeOptions(quality: 0.85)))
        #expect(try data != image.data(as: .jpeg, options: EncodeOptions(quality: 0.8)))
        // A quality that is no number is the default.
        #expect(try data == image.data(as: .jpeg, options: EncodeOptions(quality: .nan)))
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .avif]) func aFileFitsIntoItsBytes(format: ImageFormat) throws {
        let image = try sampleImage(PixelSize(320, 240))
        let best = try coders.encode(image, as: format, options: EncodeOptions(quality: 0.9)).count
        for limit in [best, best * 3 / 4, best / 3] {
            let options = EncodeOptions(quality: 0.9, maximumBytes: limit)
            let data = try coders.encode(image, as: format, options: options)
            #expect(data.count <= limit)
            // The best quality that fits, not any.
            #expect(data.count > limit * 8 / 10)
            #expect(try coders.decode(data).size == image.size)
        }
    }

    @Test func unreachableByteLimitFailsEncode() throws {
        let image = try sampleImage(PixelSize(320, 240))
        #expect {
            try coders.encode(image, as: .jpeg, options: EncodeOptions(maximumBytes: 100))
        } throws: {
            guard case CodecError.encodingFailed(.jpeg, let reason) = $0 else { return false }
            return reason.contains("the limit is 100")
        }
    }

    @Test func losslessFormatsDoNotLookAtTheBytes() throws {
        let image = try sampleImage(PixelSize(64, 64))
        let plain = try coders.encode(image, as: .png)
        #expect(try coders.encode(image, as: .png, options: EncodeOptions(maximumBytes: 10)) == plain)
        let lossless = EncodeOptions(isLossless: true, maximumBytes: 10)
        #expect(
            try coders.decode(coders.encode(image, as: .webp, options: lossless)).bitmap.bytes == image.bitmap.bytes)
    }

    @Test(arguments: [
        (100, PixelSize(100, 75)), (1, PixelSize(1, 1)), (320, PixelSize(320, 240)), (900, PixelSize(320, 240)),
    ])
    func theLongerSideIsBounded(side: Int, expected: PixelSize) throws {
        let image = try sampleImage(PixelSize(320, 240))
        let data = try coders.encode(image, as: .png, options: EncodeOptions(maximumSide: side))
        #expect(try coders.probe(data).size == expected)
    }

    @Test(arguments: [0, -4]) func aSideBelowOneIsAnError(side: Int) throws {
        let image = try sampleImage(PixelSize(8, 8))
        #expect(throws: BitmapError.invalidSize(PixelSize(side, side))) {
            try coders.encode(image, as: .png, options: EncodeOptions(maximumSide: side))
        }
    }

    @Test func defaultFormatIsThatOfSource() throws {
        for file in ["jpeg/gray.jpg", "png/rgb8.png"] {
            let data = try Fixture.read(file)
            let image = try Image(data: data)
            #expect(try coders.probe(image.data()).format == image.info.format)
        }
        let opaque = try Image(width: 2, height: 2, pixels: [UInt8](repeating: 255, count: 16))
        #expect(coders.defaultFormat(for: opaque) == .jpeg)
        let clear = try Image(width: 2, height: 2, pixels: [UInt8](repeating: 0, count: 16))
        #expect(coders.defaultFormat(for: clear) == .png)
        #expect(try coders.probe(clear.data()).format == .png)
    }

    @Test func qualityIsHeard() throws {
        let image = try sampleImage(PixelSize(200, 150))
        #expect(try image.data(as: .jpeg, quality: 0.2).count < image.data(as: .jpeg, quality: 0.9).count)
    }
}
