import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// `DecodeOptions.maximumBytes`, for every format, still and animated.
@Suite struct ByteLimitTests {
    let registry = CoderRegistry.standard()

    @Test func largeIsSixtyMebibytes() {
        #expect(ByteLimit.large.bytes == 62_914_560)
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp])
    func aLimitHalvesBothSides(_ format: ImageFormat) throws {
        let limited = DecodeOptions(maximumBytes: ByteLimit(1000 * 1000 * 4))
        let file = try registry.encode(sampleImage(PixelSize(2000, 2000)), as: format)
        #expect(try registry.decode(file, options: limited).size == PixelSize(1000, 1000))
        let wide = try registry.encode(sampleImage(PixelSize(4000, 1000)), as: format)
        #expect(try registry.decode(wide, options: limited).size == PixelSize(2000, 500))
    }

    @Test func aLimitHoldsForEachPreview() throws {
        let options = DecodeOptions(maximumBytes: ByteLimit(1000 * 1000 * 4))
        let file = try registry.encode(
            sampleImage(PixelSize(2000, 2000)), as: .jpeg, options: EncodeOptions(isProgressive: true))
        let decoding = try #require(registry.makeProgressive(for: file, options: options))
        try decoding.append(file.prefix(file.count / 2))
        let preview = try #require(try decoding.preview(context: .uncancellable))
        #expect(preview.size == PixelSize(1000, 1000))
        #expect(preview.info.isPreview)
        try decoding.append(file.dropFirst(file.count / 2))
        let image = try decoding.finish(context: .uncancellable)
        #expect(image.size == PixelSize(1000, 1000))
        #expect(!image.info.isPreview)
    }

    @Test(arguments: 1...8)
    func aLimitMeansTheUprightImage(_ orientation: Int) throws {
        let data = try Fixture.read("jpeg/orientation-\(orientation).jpg")
        let whole = try registry.decode(data)
        let limited = try registry.decode(
            data, options: DecodeOptions(maximumBytes: ByteLimit(whole.bitmap.byteCount / 4)))
        #expect(limited.size == PixelSize(whole.width / 2, whole.height / 2))
    }

    @Test(arguments: Fixture.all.filter { $0.format != "svg" })
    func oneByteIsOnePixel(_ fixture: Fixture) throws {
        let image = try registry.decode(fixture.data(), options: DecodeOptions(maximumBytes: 1))
        #expect(image.size == PixelSize(1, 1))
        #expect(image.animation?.size ?? PixelSize(1, 1) == PixelSize(1, 1))
    }

    /// One pixel more than a power of two: where an image is reduced in parts, the last of them may be lost.
    @Test(arguments: [ImageFormat.jpeg, .png, .webp])
    func noRowIsBlankAndNoSeamShows(_ format: ImageFormat) throws {
        let size = PixelSize(1029, 1029)
        let file = try registry.encode(
            Image(bitmap: slope(size), info: ImageInfo(format: .png, size: size)), as: format,
            options: EncodeOptions(quality: 1))
        for bytes in [1024 * 1024 * 4, 1000 * 1000 * 4, 514 * 514 * 4, 129 * 129 * 4] {
            let image = try registry.decode(file, options: DecodeOptions(maximumBytes: ByteLimit(bytes)))
            let (width, height) = (image.width, image.height)
            for index in 0..<height {
                let expected = 255 * (Double(index) + 0.5) / Double(height)
                let row = try #require(image.bitmap.pixel(x: width / 2, y: index))
                let column = try #require(image.bitmap.pixel(x: index, y: height / 2))
                #expect(abs(Double(row.green) - expected) <= 3, "row \(index) of \(height)")
                #expect(abs(Double(column.red) - expected) <= 3, "column \(index) of \(width)")
            }
        }
    }

    /// Red grows from left to right, green from top to bottom.
    private func slope(_ size: PixelSize) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: true) { bytes in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let offset = (y * size.width + x) * 4
                    bytes[offset] = 128
                    bytes[offset + 1] = UInt8(255 * (Double(y) + 0.5) / Double(size.height))
                    bytes[offset + 2] = UInt8(255 * (Double(x) + 0.5) / Double(size.width))
                    bytes[offset + 3] = 255
                }
            }
        }
    }
}
