import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Files of more than 8 bits whose colours need more than a conversion: animations with a profile, and light multiplied by alpha.
@Suite struct DeepSourceTests {
    let registry = CoderRegistry.standard()

    // MARK: - Animations in the colours of Adobe RGB

    private static let size = PixelSize(24, 16)

    /// The sRGB of the pixels in the file `animation.rgba16`, 0 to 1, by the formulas of Adobe RGB (1998) and IEC 61966-2-1.
    private static func expected(_ frame: Int) throws -> [Double] {
        let words = try DeepFixture.words("deep/animation.rgba16")
        let count = size.width * size.height * 4
        // To the light of sRGB, by the chromaticities of both.
        let matrix = [[1.398356, -0.398356, 0], [0, 1, 0], [0, -0.042933, 1.042933]]
        return stride(from: frame * count, to: (frame + 1) * count, by: 4).flatMap { (place: Int) -> [Double] in
            let light = (0..<3).map { pow(Double(words[place + $0]) / 65_535, 563.0 / 256) }
            return matrix.map { row in
                let value = min(1, max(0, zip(row, light).reduce(0) { $0 + $1.0 * $1.1 }))
                return value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1 / 2.4) - 0.055
            }
        }
    }

    private func levels(_ bitmap: Bitmap) -> [Double] {
        let bytes = bitmap.bytes
        return stride(from: 0, to: bytes.count, by: 4).flatMap { (place: Int) -> [Double] in
            [2, 1, 0].map { Double(bytes[place + $0]) / 255 }
        }
    }

    @Test(arguments: ["deep/animation.avif", "deep/animation.jxl"], [ColorHandling.sRGB, .asStored])
    func theFramesOfAnAnimationAreSRGB(_ file: String, _ color: ColorHandling) throws {
        let image = try registry.decode(Fixture.read(file), options: DecodeOptions(color: color))
        #expect(image.colorProfile == nil)
        #expect(image.info.bitsPerChannel > 8)
        let animation = try #require(image.animation)
        #expect(animation.frameCount == 3)
        // In any order.
        for index in [0, 2, 1, 0] {
            let frame = try animation.frame(at: index)
            let difference = try #require(largestDifference(levels(frame), try Self.expected(index)))
            #expect(difference < 2.0 / 255, "\(index)")
        }
        #expect(image.bitmap.bytes == (try animation.frame(at: 0).bytes))
    }

    @Test(arguments: ["deep/animation.avif", "deep/animation.jxl"], [ColorHandling.sRGB, .asStored])
    func theFirstFrameAloneIsSRGBToo(_ file: String, _ color: ColorHandling) throws {
        let options = DecodeOptions(color: color, firstFrameOnly: true, depth: .init())
        let image = try registry.decode(Fixture.read(file), options: options)
        #expect(image.colorProfile == nil && image.animation == nil)
        let expected = try Self.expected(0)
        #expect(try #require(largestDifference(levels(image.bitmap), expected)) < 2.0 / 255)
        let values = try #require(image.deepBitmap).values
        let colors = stride(from: 0, to: values.count, by: 4).flatMap { values[$0..<$0 + 3] }
        // A step of 10 bits where the curve of sRGB is steep, and the tables of the profile.
        #expect(try #require(largestDifference(colors, expected)) < (file.hasSuffix("avif") ? 0.0075 : 0.002))
    }

    // MARK: - PQ that is multiplied by alpha

    /// Words of red, green, blue and alpha, multiplied.
    private func multiplied() throws -> [UInt16] { try DeepFixture.words("deep/multiplied-pq-heic.rgba16") }

    @Test func multipliedPQKeepsItsBits() throws {
        let data = try Fixture.read("deep/multiplied-pq.heic")
        let options = DecodeOptions(depth: .init(), keepsDynamicRange: true)
        let deep = try #require(try registry.decode(data, options: options).deepBitmap)
        #expect(deep.format.colorSpace == .bt2020PQ && !deep.isOpaque)
        #expect(try #require(largestDifference(deep.words, try multiplied())) <= 1)
    }

    /// The light is that of the colour before it was multiplied.
    @Test func multipliedPQIsConvertedAsStraightColour() throws {
        let data = try Fixture.read("deep/multiplied-pq.heic")
        let light = DeepBitmap.Format(.float16, colorSpace: .linearSRGB)
        let image = try registry.decode(data, options: DecodeOptions(depth: light))
        let (values, bytes) = (try #require(image.deepBitmap).values, image.bitmap.bytes)
        let words = try multiplied()
        try #require(values.count == words.count && bytes.count == words.count)
        let (matrix, reference) = (ToneReference.Primaries.bt2020.matrix, ToneReference(curve: .pq))
        var compared = 0
        for place in stride(from: 0, to: words.count, by: 4) {
            let alpha = Double(words[place + 3]) / 65_535
            #expect(abs(values[place + 3] - alpha) < 0.001)
            guard alpha > 0.25 else { continue }
            compared += 1
            let signal = (0..<3).map { min(1, Double(words[place + $0]) / 65_535 / alpha) }
            let linear = signal.map { ToneReference.light(pq: $0) / 203 }
            let most = linear.max() ?? 0
            for channel in 0..<3 {
                let expected = zip(matrix[channel], linear).reduce(0) { $0 + $1.0 * $1.1 } * alpha
                #expect(abs(values[place + channel] - expected) <= 0.004 * max(1, most))
            }
            // The level, its product with alpha, and alpha are rounded.
            for (channel, level) in reference.levels(signal).enumerated() {
                #expect(abs(Double(bytes[place + 2 - channel]) - level * alpha) <= 1.6)
            }
        }
        #expect(compared > 1000)
    }
}
