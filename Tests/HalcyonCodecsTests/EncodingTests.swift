import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

@Suite struct EncodingTests {
    let registry = CoderRegistry.standard()
    private static let sizes = [PixelSize(1, 1), PixelSize(3, 5), PixelSize(257, 130)]

    @Test(arguments: sizes, [false, true])
    func losslessFormatsGiveBackEveryPixel(_ size: PixelSize, _ hasAlpha: Bool) throws {
        let image = try sampleImage(size, hasAlpha: hasAlpha)
        for format in [ImageFormat.png, .webp] {
            let file = try registry.encode(image, as: format, options: EncodeOptions(isLossless: true))
            let decoded = try registry.decode(file)
            #expect(decoded.info.format == format)
            #expect(decoded.bitmap.bytes == image.bitmap.bytes, "\(format)")
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .webp])
    func lossyFormatsComeClose(_ format: ImageFormat) throws {
        let image = try sampleImage(PixelSize(400, 300))
        var sizes: [Int] = []
        for (quality, least) in [(0.3, 26.0), (0.85, 30.0), (1.0, 34.0)] {
            let file = try registry.encode(image, as: format, options: EncodeOptions(quality: quality))
            let signal = signalToNoise(try registry.decode(file).bitmap.bytes, image.bitmap.bytes)
            #expect(signal > least, "\(format) \(quality): \(signal)")
            sizes.append(file.count)
        }
        #expect(sizes == sizes.sorted())
    }

    @Test func lossyWebPKeepsAlpha() throws {
        let image = try sampleImage(PixelSize(200, 150), hasAlpha: true)
        let decoded = try registry.decode(registry.encode(image, as: .webp))
        #expect(decoded.info.hasAlpha)
        #expect(signalToNoise(decoded.bitmap.bytes, image.bitmap.bytes) > 32)
    }

    @Test func anOpaquePNGHasNoAlphaChannel() throws {
        // The pixels decide, whatever the bitmap's `isOpaque` is.
        let opaque = try Bitmap(size: PixelSize(2, 1), isOpaque: false, pixels: [1, 2, 3, 255, 4, 5, 6, 255])
        let image = Image(bitmap: opaque, info: ImageInfo(format: .png, size: opaque.size))
        let decoded = try registry.decode(registry.encode(image, as: .png))
        #expect(!decoded.info.hasAlpha)
        #expect(decoded.bitmap.bytes == opaque.bytes)
        #expect(try registry.probe(registry.encode(sampleImage(PixelSize(9, 9), hasAlpha: true), as: .png)).hasAlpha)
    }

    @Test func jpegLaysAlphaOnTheBackground() throws {
        let size = PixelSize(16, 16)
        let clear = try Bitmap(size: size, isOpaque: false, pixels: [UInt8](repeating: 0, count: 16 * 16 * 4))
        let image = Image(bitmap: clear, info: ImageInfo(format: .png, size: size))
        let white = try registry.decode(registry.encode(image, as: .jpeg)).bitmap.pixel(x: 8, y: 8)
        #expect(white?.red == 255 && white?.green == 255 && white?.blue == 255 && white?.alpha == 255)
        let options = EncodeOptions(background: .init(red: 200, green: 100, blue: 50))
        let colored = try registry.decode(registry.encode(image, as: .jpeg, options: options))
        let pixel = try #require(colored.bitmap.pixel(x: 8, y: 8))
        #expect(abs(Int(pixel.red) - 200) < 4 && abs(Int(pixel.green) - 100) < 4 && abs(Int(pixel.blue) - 50) < 4)
    }

    @Test func progressiveJPEGHasScans() throws {
        let image = try sampleImage(PixelSize(300, 200))
        let baseline = try registry.encode(image, as: .jpeg)
        let progressive = try registry.encode(image, as: .jpeg, options: EncodeOptions(isProgressive: true))
        func hasFrame(_ marker: UInt8, _ file: Data) -> Bool {
            file.firstRange(of: Data([0xFF, marker, 0, 17, 8])) != nil
        }
        #expect(hasFrame(0xC0, baseline) && !hasFrame(0xC2, baseline))
        #expect(hasFrame(0xC2, progressive))
        #expect(
            signalToNoise(
                try registry.decode(progressive).bitmap.bytes, try registry.decode(baseline).bitmap.bytes) > 45)
    }

    @Test func imageTooWideForItsFormatIsRefused() throws {
        let size = PixelSize(66_000, 1)
        let image = try sampleImage(size)
        for format in [ImageFormat.jpeg, .webp] {
            let error = #expect(throws: CodecError.self) { try registry.encode(image, as: format) }
            #expect(error?.code == "processing")
        }
        let limits = DecodeLimits(maximumSide: 70_000, maximumSideRatio: 70_000)
        let png = try registry.encode(image, as: .png)
        #expect(try registry.decode(png, options: DecodeOptions(limits: limits)).size == size)
    }

    @Test(arguments: [ImageFormat.webp, .avif, .jpegXL])
    func effortMakesAnotherFile(_ format: ImageFormat) throws {
        let image = try sampleImage(PixelSize(120, 90))
        let files = try [0, 1, nil].map { try registry.encode(image, as: format, options: EncodeOptions(effort: $0)) }
        #expect(files[0] != files[1])
        for file in files { #expect(signalToNoise(try registry.decode(file).bitmap.bytes, image.bitmap.bytes) > 25) }
        // Values beyond the range count as the nearest; one that is no number is the default.
        #expect(try registry.encode(image, as: format, options: EncodeOptions(effort: 7)) == files[1])
        #expect(try registry.encode(image, as: format, options: EncodeOptions(effort: .nan)) == files[2])
        #expect(EncodeOptions(effort: .nan) == EncodeOptions(effort: .nan))
    }

    @Test func keysTellOptionsApart() {
        func key(_ options: EncodeOptions) -> [UInt8] {
            var key = KeyEncoder()
            options.encode(into: &key)
            return key.bytes
        }
        /// Options for each property that changes the bytes, by its name.
        let different: [String: EncodeOptions] = [
            "quality": EncodeOptions(quality: 0.5), "isLossless": EncodeOptions(isLossless: true),
            "background": EncodeOptions(background: .black), "isProgressive": EncodeOptions(isProgressive: true),
            "maximumSide": EncodeOptions(maximumSide: 7), "maximumBytes": EncodeOptions(maximumBytes: 7),
            "firstFrameOnly": EncodeOptions(firstFrameOnly: true),
            "keepsOrientation": EncodeOptions(keepsOrientation: true),
            "keepsColorProfile": EncodeOptions(keepsColorProfile: false),
            "embedsThumbnail": EncodeOptions(embedsThumbnail: true), "effort": EncodeOptions(effort: 0.5),
            "keepsGainMap": EncodeOptions(keepsGainMap: false),
            "bitsPerChannel": EncodeOptions(bitsPerChannel: 16),
            "qualityTarget": EncodeOptions(qualityTarget: QualityTarget(score: 80)),
        ]
        #expect(Set(([EncodeOptions()] + different.values).map(key)).count == different.count + 1)
        #expect(key(EncodeOptions(maximumTotalPixels: 1)) == key(EncodeOptions()))
        let properties = Mirror(reflecting: EncodeOptions()).children.compactMap(\.label)
            .map { ["storedQuality": "quality", "storedEffort": "effort"][$0] ?? $0 }
        #expect(Set(properties) == Set(different.keys).union(["maximumTotalPixels"]))
    }
}
