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
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .avif, .heic, .png, .gif])
    func aQualityIsFromZeroToOne(format: ImageFormat) throws {
        let image = try sampleImage(PixelSize(20, 20))
        for quality in [0, -0.0, 1] {
            let file = try coders.encode(image, as: format, options: EncodeOptions(quality: quality))
            #expect(try coders.probe(file).size == image.size)
        }
        let encoder = try #require(coders.encoder(for: format))
        for quality in [-0.01, 1.01, 85, 1e300, .infinity, -.infinity, .nan] as [Double] {
            for options in [EncodeOptions(quality: quality), EncodeOptions(quality: quality, maximumBytes: 1)] {
                let error = #expect(throws: CodecError.self) { try coders.encode(image, as: format, options: options) }
                guard case .encodingFailed(format, let reason)? = error else {
                    Issue.record("\(quality): \(String(describing: error))")
                    continue
                }
                #expect(reason.contains("from 0 to 1") && reason.contains("\(quality)"))
                // Without the registry's check before it, an encoder itself must not trap.
                guard coders.canEncode(format), encoder.isLossy(format, options: options) else { continue }
                #expect(throws: CodecError.self) {
                    try encoder.encode(image, as: format, options: options, context: .uncancellable)
                }
            }
        }
        #expect(throws: CodecError.self) { try image.data(as: format, quality: 85) }
    }

    @Test func anAnimationsQualityIsFromZeroToOne() throws {
        let animation = try Image(data: Fixture.read("gif/animated.gif"))
        for format in [ImageFormat.webp, .png, .gif] {
            #expect(throws: CodecError.self) { try animation.data(as: format, quality: 1.5) }
        }
    }

    /// Options are parts of keys, also those that no encoder takes.
    @Test func anyQualityEqualsItself() {
        for quality in [0.5, 85, .infinity, .nan] as [Double] {
            let (one, two) = (EncodeOptions(quality: quality), EncodeOptions(quality: quality))
            #expect(one == two && one.hashValue == two.hashValue)
            #expect(one != EncodeOptions(quality: 0.25))
        }
        #expect(EncodeOptions(quality: 0) == EncodeOptions(quality: -0.0))
        var options = EncodeOptions(quality: .nan)
        options.quality = 0.5
        #expect(options == EncodeOptions(quality: 0.5))
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
