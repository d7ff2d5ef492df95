import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import Testing

/// Processors over animations: each frame by itself, when it is requested.
@Suite struct ProcessedAnimationTests {
    /// Frames of noise that are made when they are requested.
    private final class Frames: AnimationFrameSource {
        let sizes: [PixelSize]
        private let made = Lock<[Int]>([])

        init(_ sizes: [PixelSize]) { self.sizes = sizes }

        var cost: Int { 4711 }
        var asked: [Int] { made.withLock { $0 } }

        func frame(at index: Int, context: WorkContext) throws -> Bitmap {
            try context.checkCancellation()
            made.withLock { $0.append(index) }
            return try Self.bitmap(index, sizes[index])
        }

        /// No two are alike.
        static func bitmap(_ index: Int, _ size: PixelSize) throws -> Bitmap {
            let bytes = try noise(size.width, size.height).bytes
            return try Bitmap(size: size, isOpaque: false, pixels: bytes.map { $0 / UInt8(index + 1) })
        }
    }

    private static let durations: [Duration] = [.milliseconds(10), .milliseconds(250), .seconds(2)]
    private static let size = PixelSize(13, 9)

    private func lazily(_ sizes: [PixelSize] = [PixelSize](repeating: size, count: 3)) throws -> (Image, Frames) {
        let frames = Frames(sizes)
        let animation = try AnimatedImage(source: frames, size: Self.size, durations: Self.durations, loopCount: 5)
        let still = try image(Self.size.width, Self.size.height, isOpaque: false, [UInt8](Self.bytes(of: 0)))
        return (Image(bitmap: still.bitmap, info: still.info, animation: animation), frames)
    }

    private static func bytes(of index: Int) throws -> [UInt8] {
        try Frames.bitmap(index, size).withPixels { [UInt8]($0) }
    }

    /// Counts what it processes.
    private func counting(_ count: Lock<Int>, appliesPerFrame: Bool = true) -> GeneralProcessor {
        .general("org.example.counting", appliesPerFrame: appliesPerFrame) { image, context in
            count.withLock { $0 += 1 }
            return try InvertProcessor().process(image, context: context)
        }
    }

    private func process(_ image: Image, by processors: any ImageProcessor...) throws -> Image {
        try processors.process(image, context: .uncancellable)
    }

    private func expectFrames(
        _ result: Image, by processors: any ImageProcessor..., at place: SourceLocation = #_sourceLocation
    ) throws {
        let animation = try #require(result.animation, sourceLocation: place)
        #expect(animation.durations == Self.durations && animation.loopCount == 5, sourceLocation: place)
        #expect(animation.size == result.size, sourceLocation: place)
        for index in 0..<3 {
            let frame = try image(Self.size.width, Self.size.height, isOpaque: false, try Self.bytes(of: index))
            let expected = try processors.reduce(frame) { try $1.process($0, context: .uncancellable) }
            let made = try animation.frame(at: index)
            #expect(made.withPixels { [UInt8]($0) } == expected.bytes, "frame \(index)", sourceLocation: place)
            if index == 0 { #expect(result.bytes == expected.bytes, sourceLocation: place) }
        }
    }

    @Test func eachFrameIsProcessed() throws {
        let (source, _) = try lazily()
        for processor: any ImageProcessor in [
            .flip(.vertical), .crop(to: PixelSize(5, 5)), .rotate(degrees: 20), .blur(radius: 2), .invert,
            .circle(), .tint(.black), .pad(3, background: .white),
            FlipProcessor(.vertical).appending(.rotate(degrees: 90)),
        ] as [any ImageProcessor] {
            try expectFrames(try process(source, by: processor), by: processor)
        }
    }

    @Test func processorsAreAppliedToFramesInOrder() throws {
        let (source, _) = try lazily()
        let list: [any ImageProcessor] = [.crop(to: PixelSize(9, 6)), .rotate(degrees: 90), .invert, .flip(.vertical)]
        let result = try list.process(source, context: .uncancellable)
        #expect(result.size == PixelSize(6, 9))
        try expectFrames(result, by: list[0], list[1], list[2], list[3])
    }

    @Test func framesAreMadeWhenTheyAreAskedFor() throws {
        let ((source, frames), count) = (try lazily(), Lock(0))
        let result = try process(source, by: counting(count), .flip(.vertical))
        // The still image alone.
        #expect(count.withLock { $0 } == 1)
        #expect(frames.asked.isEmpty)
        let animation = try #require(result.animation)
        _ = try animation.frame(at: 2)
        #expect(count.withLock { $0 } == 2)
        #expect(frames.asked == [2])
        // Nothing is kept but what the source keeps.
        _ = try animation.frame(at: 2)
        #expect(frames.asked == [2, 2])
        #expect(animation.cost == 4711)
    }

    @Test func preloadedAnimationStaysPreloaded() throws {
        let (lazy, _) = try lazily()
        let (animation, count) = (try #require(lazy.animation), Lock(0))
        let source = Image(bitmap: lazy.bitmap, info: lazy.info, animation: try animation.preloaded())
        let result = try process(source, by: counting(count))
        #expect(count.withLock { $0 } == 4)
        try expectFrames(result, by: .invert)
        // All of it was done beforehand.
        #expect(count.withLock { $0 } == 4)
        #expect(try #require(result.animation).isPreloaded)
    }

    @Test func framesThatAreKeptAreProcessed() throws {
        let frames = try (0..<3).map { index in
            let bytes = try Self.bytes(of: index)
            return (try image(Self.size.width, Self.size.height, isOpaque: false, bytes), Self.durations[index])
        }
        let animation = try AnimatedImage(frames: frames, loopCount: 5)
        let source = Image(bitmap: frames[0].0.bitmap, info: frames[0].0.info, animation: animation)
        try expectFrames(try process(source, by: .rotate(degrees: 45)), by: .rotate(degrees: 45))
    }

    @Test func wholeImageProcessorMakesStillImage() throws {
        let ((source, frames), count) = (try lazily(), Lock(0))
        let still = counting(count, appliesPerFrame: false)
        for list: [any ImageProcessor] in [
            [still], [.flip(.vertical), still], [still, .flip(.vertical)], [ChainProcessor([.invert, still])],
        ] {
            #expect(try list.process(source, context: .uncancellable).animation == nil)
        }
        #expect(!ChainProcessor([InvertProcessor(), still]).appliesPerFrame)
        #expect(count.withLock { $0 } == 4)
        #expect(frames.asked.isEmpty)
    }

    @Test func framesOfDifferingSizesAreAnError() throws {
        let (source, _) = try lazily([Self.size, PixelSize(4, 4), Self.size])
        let result = try process(source, by: .flip(.vertical))
        let animation = try #require(result.animation)
        #expect(try animation.frame(at: 0).size == Self.size)
        #expect(throws: AnimationError.differentSizes(Self.size, PixelSize(4, 4))) { try animation.frame(at: 1) }
        let loaded = try #require(source.animation).preloaded()
        let kept = Image(bitmap: source.bitmap, info: source.info, animation: loaded)
        #expect(throws: AnimationError.differentSizes(Self.size, PixelSize(4, 4))) {
            try process(kept, by: .flip(.vertical))
        }
    }

    @Test func cancelledFrameIsNotProcessed() throws {
        let (source, frames) = try lazily()
        let animation = try #require(try process(source, by: .blur(radius: 1)).animation)
        #expect(throws: CancellationError.self) {
            try animation.frame(at: 1, context: WorkContext(isCancelled: { true }))
        }
        #expect(frames.asked.isEmpty)
        #expect(throws: AnimationError.noSuchFrame(3, count: 3)) { try animation.frame(at: 3) }
    }

    @Test func unchangedFirstFrameDoesNotSkipOthers() throws {
        // A ground does nothing for an opaque frame, but for those that are not.
        let opaque = try noise(Self.size.width, Self.size.height, hasAlpha: false)
        let soft = try image(Self.size.width, Self.size.height, isOpaque: false, try Self.bytes(of: 1))
        let animation = try AnimatedImage(frames: [(opaque, .seconds(1)), (soft, .seconds(1))])
        let source = Image(bitmap: opaque.bitmap, info: opaque.info, animation: animation)
        for processor: any ImageProcessor in [
            .pad(0, background: .white), .roundCorners(.pixels(0), background: .white),
        ] as [any ImageProcessor] {
            let result = try #require(try process(source, by: processor).animation)
            let second = try soft.processed(by: processor)
            #expect(try result.frame(at: 1).withPixels { [UInt8]($0) } == second.bytes, "\(processor)")
        }
    }
}
