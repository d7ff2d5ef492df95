import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import Testing

/// Animations that are written and read again.
@Suite struct AnimationEncodingTests {
    private static let formats: [ImageFormat] = [.png, .gif, .webp]
    private let coders = CoderRegistry.standard()

    /// Frames of few colours that move over each other; where they have alpha, a pixel is there or it is not.
    private func animation(hasAlpha: Bool, loopCount: Int = 0) throws -> AnimatedImage {
        var generator = FixedGenerator(state: hasAlpha ? 5 : 9)
        let size = PixelSize(23, 17)
        let frames = try (0..<7).map { index -> (Image, Duration) in
            var pixels: [UInt8] = []
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let isThere = !hasAlpha || index == 3 || (x + y + index) % 5 != 0
                    let isSquare = (index..<index + 6).contains(x) && (index + 2..<index + 8).contains(y)
                    let level = isSquare ? UInt8.random(in: 0..<3, using: &generator) * 100 : 30
                    pixels += isThere ? [level, UInt8(x * 8), 200, 255] : [0, 0, 0, 0]
                }
            }
            return (try Image(width: size.width, height: size.height, pixels: pixels), .milliseconds(20 + index * 30))
        }
        // One more that changes nothing.
        return try AnimatedImage(frames: frames + [(frames[6].0, .milliseconds(500))], loopCount: loopCount)
    }

    private func image(_ animation: AnimatedImage) throws -> Image {
        let first = try animation.frame(at: 0)
        return Image(
            bitmap: first, info: ImageInfo(format: .bitmap, size: first.size, hasAlpha: !first.isOpaque),
            animation: animation)
    }

    private func expectEqual(_ left: AnimatedImage, _ right: AnimatedImage) throws {
        try #require(left.frameCount == right.frameCount)
        for index in left.durations.indices {
            #expect(try largestDifference(left.frame(at: index).bytes, right.frame(at: index).bytes) == 0, "\(index)")
        }
    }

    @Test(arguments: [ImageFormat.png, .gif], [false, true])
    func framesAndDurationsComeBackExactly(format: ImageFormat, hasAlpha: Bool) throws {
        let animation = try animation(hasAlpha: hasAlpha)
        let data = try coders.encode(image(animation), as: format)
        let decoded = try coders.decode(data)
        #expect(decoded.info.format == format)
        let back = try #require(decoded.animation)
        try expectEqual(back, animation)
        #expect(back.durations == animation.durations)
        #expect(largestDifference(decoded.bitmap.bytes, try animation.frame(at: 0).bytes) == 0)
    }

    /// Opaque, opaque with a small change, and then hardly anything: the whole canvas has to be cleared.
    @Test(arguments: formats) func nothingOfOpaqueFramesIsLeftUnderATransparentOne(format: ImageFormat) throws {
        let side = 20
        func frame(_ color: (Int, Int) -> [UInt8]) throws -> (Image, Duration) {
            let pixels = (0..<side * side).flatMap { color($0 % side, $0 / side) }
            return (try Image(width: side, height: side, pixels: pixels), .milliseconds(50))
        }
        let (gray, red, green): ([UInt8], [UInt8], [UInt8]) = (
            [200, 200, 200, 255], [9, 9, 240, 255], [9, 240, 9, 255]
        )
        let animation = try AnimatedImage(frames: [
            frame { _, _ in gray }, frame { x, y in x < 2 && y < 2 ? red : gray },
            frame { x, y in x < 5 && y < 5 ? green : [0, 0, 0, 0] }, frame { _, _ in gray },
        ])
        let data = try coders.encode(image(animation), as: format, options: EncodeOptions(isLossless: true))
        let decoded = try coders.decode(data)
        #expect(decoded.info.hasAlpha)
        try expectEqual(try #require(decoded.animation), animation)
        // The flag that says so to programs which fill the canvas otherwise.
        if format == .webp { #expect(data[20] & 0x10 != 0) }
    }

    @Test(arguments: [false, true]) func webPMakesOneFrameOfEqualNeighbours(hasAlpha: Bool) throws {
        let animation = try animation(hasAlpha: hasAlpha)
        let data = try coders.encode(image(animation), as: .webp, options: EncodeOptions(isLossless: true))
        let back = try #require(try coders.decode(data).animation)
        #expect(back.frameCount == animation.frameCount - 1)
        for index in back.durations.indices {
            #expect(try largestDifference(back.frame(at: index).bytes, animation.frame(at: index).bytes) == 0)
        }
        #expect(Array(back.durations.prefix(6)) == Array(animation.durations.prefix(6)))
        let last = Duration.milliseconds(20 + 6 * 30 + 500)
        #expect(back.durations.last == last)
    }

    @Test func lossyWebPHearsItsQuality() throws {
        let animation = try animation(hasAlpha: false)
        let image = try image(animation)
        let small = try coders.encode(image, as: .webp, options: EncodeOptions(quality: 0.1))
        let large = try coders.encode(image, as: .webp, options: EncodeOptions(quality: 0.95))
        #expect(small.count < large.count)
        let back = try #require(try coders.decode(large).animation)
        #expect(try signalToNoise(back.frame(at: 2).bytes, animation.frame(at: 2).bytes) > 25)
    }

    @Test(arguments: formats, [0, 1, 2, 70]) func loopsAreKept(format: ImageFormat, count: Int) throws {
        let data = try coders.encode(image(animation(hasAlpha: false, loopCount: count)), as: format)
        #expect(try coders.probe(data).loopCount == count)
        #expect(try coders.decode(data).animation?.loopCount == count)
    }

    @Test func moreLoopsThanWebPCanCountAreItsMost() throws {
        let data = try coders.encode(image(animation(hasAlpha: false, loopCount: 70_000)), as: .webp)
        #expect(try coders.probe(data).loopCount == 65_535)
    }

    @Test(arguments: formats) func theFirstFrameAloneIsAStillImage(format: ImageFormat) throws {
        let image = try image(animation(hasAlpha: true))
        let data = try coders.encode(image, as: format, options: EncodeOptions(firstFrameOnly: true))
        let info = try coders.probe(data)
        #expect(info.frameCount == 1 && info.loopCount == nil)
    }

    @Test(arguments: formats) func framesAreReducedLikeTheImage(format: ImageFormat) throws {
        let image = try image(animation(hasAlpha: false))
        let data = try coders.encode(image, as: format, options: EncodeOptions(maximumSide: 10))
        let back = try coders.decode(data)
        #expect(back.size == PixelSize(10, 7))
        #expect(try #require(back.animation).frame(at: 3).size == PixelSize(10, 7))
    }

    @Test func aJPEGIsTheFirstFrame() throws {
        let data = try coders.encode(image(animation(hasAlpha: false)), as: .jpeg)
        #expect(try coders.probe(data).frameCount == 1)
    }

    /// Every other animated file, read and written in each format.
    @Test(arguments: Fixture.animated) func decodedAnimationIsEncodedLosslessly(_ fixture: Fixture) throws {
        let image = try coders.decode(fixture.data())
        let animation = try #require(image.animation)
        let data = try coders.encode(image, as: .png)
        try expectEqual(try #require(try coders.decode(data).animation), animation)
    }

    @Test func durationsThatAFormatCannotSay() throws {
        let frame = try sampleImage(PixelSize(8, 8))
        let long = [
            Duration.seconds(70), .seconds(700), .seconds(100_000), .zero, .milliseconds(-5), .milliseconds(12),
        ]
        let animation = try AnimatedImage(frames: long.map { (frame, $0) })
        func back(_ format: ImageFormat) throws -> [Duration] {
            try #require(try coders.decode(coders.encode(image(animation), as: format)).animation).durations
        }
        #expect(
            try back(.png) == [.seconds(70), .seconds(700), .seconds(65_535), .zero, .zero, .milliseconds(12)])
        #expect(
            try back(.gif) == [
                .seconds(70), .milliseconds(655_350), .milliseconds(655_350), .zero, .zero, .milliseconds(20),
            ])
    }

    /// Durations beyond any clock, and such as no frame has.
    @Test func endlessDurationsAreCutOff() throws {
        let frame = try sampleImage(PixelSize(8, 8))
        let long = [
            Duration.milliseconds(33.25), .milliseconds(33.25), .seconds(Int64.max), .zero, .seconds(Int64.min),
            .seconds(Int64.max),
        ]
        let animation = try AnimatedImage(frames: long.map { (frame, $0) })
        let end = 1_000_000_000_000_000
        #expect(animation.endsInMilliseconds(shortest: 0) == [33, 67, end, end, end, end])
        #expect(animation.endsInMilliseconds(shortest: 1) == [33, 67, end, end + 1, end + 2, end + 3])
        #expect(animation.endsInMilliseconds(shortest: 0, longest: 100) == [33, 67, 167, 167, 167, 267])
        for format in [ImageFormat.jpegXL, .avif] {
            let back = try coders.decode(coders.encode(image(animation), as: format)).animation?.durations
            #expect(back?.prefix(2) == [.milliseconds(33), .milliseconds(34)])
        }
    }

    /// WebP has 24 bits for the milliseconds of a frame, and libwebp 31 for those of all frames.
    @Test func durationsThatWebPCannotSay() throws {
        func encoded(_ durations: [Duration]) throws -> Data {
            let frames = try durations.enumerated().map { index, duration in
                let pixels = [[UInt8]](repeating: [UInt8(index), 0, UInt8(255 - index), 255], count: 64).flatMap { $0 }
                return (try Image(width: 8, height: 8, pixels: pixels), duration)
            }
            return try coders.encode(
                image(AnimatedImage(frames: frames)), as: .webp, options: EncodeOptions(isLossless: true))
        }
        let day = Duration.seconds(86_400)
        let data = try encoded([day, .milliseconds(40), .seconds(Int64.max), .milliseconds(16_777_214.5), day])
        let most = Duration.milliseconds(16_777_215)
        #expect(try coders.decode(data).animation?.durations == [most, .milliseconds(40), most, most, most])
        #expect(throws: CodecError.encodingFailed(.webp, reason: "it plays for more than 24 days")) {
            try encoded([Duration](repeating: day, count: 129))
        }
    }

    @Test func manyColoursAreChosenWell() throws {
        let image = try sampleImage(PixelSize(240, 160))
        let back = try coders.decode(coders.encode(image, as: .gif))
        #expect(signalToNoise(back.bitmap.bytes, image.bitmap.bytes) >= 28)
    }

    @Test(arguments: [1, 2, 3, 255, 256, 257]) func fewColoursAreExact(count: Int) throws {
        let pixels: [UInt8] = (0..<count).flatMap { index -> [UInt8] in
            [UInt8(index % 256), UInt8(index / 256), 7, 255]
        }
        let image = try Image(width: count, height: 1, pixels: pixels)
        let back = try coders.decode(coders.encode(image, as: .gif))
        #expect((largestDifference(back.bitmap.bytes, pixels) == 0) == (count <= 256))
    }

    @Test(arguments: formats) func aCancelledEncodeIsCancelled(format: ImageFormat) throws {
        let image = try image(animation(hasAlpha: true))
        #expect(throws: CancellationError.self) {
            try coders.encode(image, as: format, context: WorkContext(isCancelled: { true }))
        }
    }
}
