import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct BlurProcessorTests {
    @Test(arguments: Picture.allCases, [0.3, 0.5, 0.6, 0.8, 1.0.nextDown, 1, 2, 3.3, 5, 20, 60])
    func blurApproximatesGaussian(picture: Picture, radius: Double) throws {
        let source = try picture.image(48, 36)
        let result = try source.processed(by: .blur(radius: radius))
        #expect(psnr(result, PlainImage(source).blurred(sigma: radius)) >= 40)
        expectSound(result, "\(radius)")
        #expect(result.bitmap.isOpaque)
        #expect(result.info == source.info)
    }

    @Test(arguments: [0.5, 1, 3.3, 20])
    func alphaIsBlurredAsColoursAre(radius: Double) throws {
        let source = try noise(41, 30)
        let result = try source.processed(by: .blur(radius: radius))
        #expect(psnr(result, PlainImage(source).blurred(sigma: radius)) >= 40)
        expectSound(result, "\(radius)")
    }

    @Test(arguments: [0.5, 1, 3.3, 20])
    func edgesHaveNoFringe(radius: Double) throws {
        // White stays white, however little of it there is: each channel is its alpha.
        let result = try disc(40).processed(by: .blur(radius: radius))
        #expect(fringe(result, .white) == 0)
        #expect(result[0, 20][3] < result[20, 20][3])
    }

    @Test(arguments: [0.3, 2, 77, 1000])
    func uniformImageIsUnchanged(radius: Double) throws {
        for pixel: Pixel in [[10, 120, 250, 255], [255, 255, 255, 255], [1, 2, 3, 4], [0, 0, 0, 0]] {
            let source = try flat(19, 13, pixel)
            #expect(try source.processed(by: .blur(radius: radius)).bytes == source.bytes)
        }
    }

    @Test(arguments: [PixelSize(1, 1), PixelSize(1, 23), PixelSize(23, 1), PixelSize(2, 3), PixelSize(65, 2)])
    func theSmallestImagesAreBlurred(size: PixelSize) throws {
        let source = try noise(size.width, size.height)
        for radius in [0.6, 1, 4, 300] {
            let result = try source.processed(by: .blur(radius: radius))
            #expect(psnr(result, PlainImage(source).blurred(sigma: radius)) >= 40, "\(radius)")
        }
    }

    @Test func aRadiusOfNothingCopiesNothing() throws {
        let source = try noise(20, 10)
        #expect(try source.processed(by: .blur(radius: 0)).bitmap === source.bitmap)
        #expect(try source.processed(by: .blur(radius: -0.0)).bitmap === source.bitmap)
    }
}
