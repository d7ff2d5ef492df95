import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// `TargetSize.light`: whatever a decoder could do by itself, the result is that of the whole image in linear light.
@Suite struct LinearLightDecodeTests {
    let registry = CoderRegistry.standard()

    private static let stills = Fixture.all.filter { !["svg", "ico"].contains($0.format) && $0.frames == 1 }

    private func target(_ width: Int, _ height: Int, _ mode: ResizeMode = .stretch) -> TargetSize {
        TargetSize(PixelSize(width, height), mode: mode, light: .linear)
    }

    @Test(arguments: stills)
    func aReductionIsThatOfTheWhole(_ fixture: Fixture) throws {
        let data = try fixture.data()
        let whole = try registry.decode(data)
        for target in [target(1, 1), target(5, 7), target(17, 12, .fill), target(31, 31, .fit)] {
            let part = try registry.decode(data, options: DecodeOptions(target: target))
            let geometry = ResizeGeometry(source: whole.size, box: target.size, mode: target.mode, upscale: false)
            let expected = try whole.bitmap.resampled(geometry, light: .linear)
            #expect(part.size == geometry.size)
            // An image is scaled before it is turned, which exchanges the places of rounding errors.
            let difference = try #require(largestDifference(part.bitmap.bytes, expected.bytes))
            #expect(difference <= (fixture.orientation == 1 ? 0 : 1), "\(target)")
        }
    }

    /// Black and white pixels by turns, of which no other scaling may be made on the way.
    private func board(_ size: PixelSize) throws -> Image {
        let bitmap = try Bitmap(size: size, isOpaque: true) { output in
            for index in 0..<size.width * size.height {
                let level: UInt8 = (index % size.width + index / size.width) % 2 == 0 ? 255 : 0
                for channel in 0..<4 { output[index * 4 + channel] = channel == 3 ? 255 : level }
            }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size))
    }

    @Test(arguments: [ImageFormat.png, .jpeg, .webp, .qoi])
    func aCheckerboardInAFileKeepsItsLight(_ format: ImageFormat) throws {
        let size = PixelSize(320, 240)
        let data = try registry.encode(board(size), as: format, options: EncodeOptions(quality: 1))
        for (light, level) in [(ResizeLight.linear, 188), (.encoded, 128)] {
            let target = TargetSize(PixelSize(40, 30), light: light)
            let image = try registry.decode(data, options: DecodeOptions(target: target))
            #expect(image.size == target.size)
            for (index, byte) in image.bitmap.bytes.enumerated() where index % 4 != 3 {
                // A lossy file has not exactly those pixels.
                #expect(abs(Int(byte) - level) <= (format == .png || format == .qoi ? 1 : 3), "\(light)")
                if abs(Int(byte) - level) > 3 { return }
            }
            // Only encoded light is left to a decoder.
            let plan = try registry.plan(data, options: DecodeOptions(target: target))
            let reduces = format == .jpeg || format == .webp
            #expect((plan.nativeSize == size) == (light == .linear || !reduces))
        }
    }

    @Test(arguments: ["color/adobe.jpg", "color/adobe.webp", "color/16-linear.tiff", "color/alpha-p3.webp"])
    func coloursAreConvertedBeforeTheyAreAveraged(_ file: String) throws {
        let data = try Fixture.read(file)
        let whole = try registry.decode(data)
        let box = PixelSize(whole.width / 3, whole.height / 4)
        let part = try registry.decode(data, options: DecodeOptions(target: target(box.width, box.height)))
        let geometry = ResizeGeometry(source: whole.size, box: box, mode: .stretch, upscale: false)
        let expected = try whole.bitmap.resampled(geometry, light: .linear)
        #expect(largestDifference(part.bitmap.bytes, expected.bytes) == 0)
        // As they are stored, they are taken as they are.
        let stored = try registry.decode(data, options: DecodeOptions(color: .asStored))
        let options = DecodeOptions(target: target(box.width, box.height), color: .asStored)
        let reduced = try registry.decode(data, options: options)
        #expect(
            largestDifference(
                reduced.bitmap.bytes, try stored.bitmap.resampled(geometry, light: .linear).bytes) == 0)
    }

    @Test(arguments: ["gif/animated.gif", "png/apng.png", "webp/animated.webp", "color/animated.png"])
    func everyFrameIsAveraged(_ file: String) throws {
        let data = try Fixture.read(file)
        let part = try #require(try registry.decode(data, options: DecodeOptions(target: target(7, 5))).animation)
        let whole = try #require(try registry.decode(data).animation)
        let geometry = ResizeGeometry(source: whole.size, box: PixelSize(7, 5), mode: .stretch, upscale: false)
        for index in 0..<whole.frameCount {
            let expected = try whole.frame(at: index, context: .uncancellable).resampled(geometry, light: .linear)
            let frame = try part.frame(at: index, context: .uncancellable)
            #expect(largestDifference(frame.bytes, expected.bytes) == 0)
        }
    }

    /// Sizes that a file has, or that are drawn, were averaged by nobody.
    @Test func sizesThatAreNotAveragedAreTaken() throws {
        for file in ["ico/several.ico", "svg/inches.svg"] {
            let data = try Fixture.read(file)
            for side in [8, 16, 20, 32] {
                let linear = try registry.plan(data, options: DecodeOptions(target: target(side, side, .fit)))
                let plain = try registry.plan(
                    data, options: DecodeOptions(target: TargetSize(PixelSize(side, side))))
                #expect(linear.nativeSize == plain.nativeSize)
            }
        }
    }

    @Test func aStreamedDecodeTakesNoWholeBitmap() throws {
        let size = PixelSize(4000, 3000)
        for format in [ImageFormat.png, .jpeg] {
            let file = try registry.encode(sampleImage(size), as: format)
            let target = TargetSize(PixelSize(400, 300), light: .linear)
            let plan = try registry.plan(file, options: DecodeOptions(target: target))
            #expect(plan.isStreamed)
            #expect(plan.workingBytes == 400 * 300 * 4)
        }
    }

    /// A custom decoder that says nothing is asked for no smaller size.
    @Test func plansOfTheLightsAreNotEqual() throws {
        let data = try Fixture.read("png/rgb8.png")
        let box = PixelSize(9, 9)
        let linear = try registry.plan(data, options: DecodeOptions(target: TargetSize(box, light: .linear)))
        #expect(try linear != registry.plan(data, options: DecodeOptions(target: TargetSize(box))))
        #expect(try linear == registry.plan(data, options: DecodeOptions(target: TargetSize(box, light: .linear))))
    }
}
