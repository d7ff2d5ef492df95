import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct SharpenProcessorTests {
    @Test(arguments: Picture.allCases, [(0.5, 1.0), (1, 0.5), (1, 2), (2, 1), (0.8, 5), (1.5, 20)])
    func sharpenAddsDifferenceFromBlur(picture: Picture, values: (amount: Double, radius: Double)) throws {
        let source = try picture.image(48, 36)
        let result = try source.processed(by: .sharpen(amount: values.amount, radius: values.radius))
        let plain = PlainImage(source)
        let reference = plain.merged(plain.blurred(sigma: values.radius)) { pixel, blurred in
            zip(pixel, blurred).map { min(max($0 + values.amount * ($0 - $1), 0), 255) }
        }
        #expect(psnr(result, reference) >= 40)
        #expect(result.bitmap.isOpaque)
        expectSound(result, "\(values)")
    }

    @Test(arguments: [(0.5, 1.0), (2, 2), (1, 10), (3, 1)], [Color(red: 0.9, green: 0.5, blue: 0.2), .white])
    func softEdgesHaveNoFringe(values: (amount: Double, radius: Double), color: Color) throws {
        for softness in [1.0, 6, 25] {
            let source = try disc(40, color, softness: softness)
            let result = try source.processed(by: .sharpen(amount: values.amount, radius: values.radius))
            // The source's colours are rounded by half a level; those of the blur and its alpha by three quarters,
            // across and down, which counts double where the blur leaves half of an edge's alpha. All that as often
            // as `amount`.
            #expect(fringe(result, color) <= 0.5 + 3.5 * values.amount)
            expectSound(result, "\(values)")
        }
    }

    @Test func sharpenKeepsAlpha() throws {
        let source = try noise(30, 20)
        let result = try source.processed(by: .sharpen(amount: 2, radius: 2))
        expectSound(result, "noise")
        for y in 0..<20 {
            for x in 0..<30 { #expect(result[x, y][3] == source[x, y][3]) }
        }
        #expect(result.bytes != source.bytes)
    }

    @Test(arguments: [(0.5, 1.0), (100, 3), (3, 1000)])
    func uniformImageIsUnchanged(values: (amount: Double, radius: Double)) throws {
        for pixel: Pixel in [[10, 120, 250, 255], [1, 2, 3, 4], [0, 0, 0, 0]] {
            let source = try flat(19, 13, pixel)
            let result = try source.processed(by: .sharpen(amount: values.amount, radius: values.radius))
            #expect(result.bytes == source.bytes)
        }
    }

    @Test func sharpenWithoutEffectReturnsSameBitmap() throws {
        let source = try noise(20, 10)
        #expect(try source.processed(by: .sharpen(amount: 0, radius: 3)).bitmap === source.bitmap)
        #expect(try source.processed(by: .sharpen(amount: 3, radius: 0)).bitmap === source.bitmap)
    }
}
