import HalcyonCodecs
import HalcyonImage
import HalcyonSystem
import Testing

/// Frames drawn onto each other, compared with a drawing that starts anew for each frame and takes no shortcut.
@Suite struct FrameCompositorTests {
    private static let size = PixelSize(6, 5)
    private static let whole = PixelRect(x: 0, y: 0, width: 6, height: 5)

    private func patch(_ size: PixelSize, _ generator: inout FixedGenerator, opaque: Bool) throws -> Bitmap {
        var bytes: [UInt8] = []
        for _ in 0..<size.width * size.height {
            let alpha = opaque ? 255 : [0, 90, 255][Int.random(in: 0..<3, using: &generator)]
            bytes += (0..<3).map { _ in UInt8(Int.random(in: 0...alpha, using: &generator)) } + [UInt8(alpha)]
        }
        return try Bitmap(size: size, isOpaque: opaque, pixels: bytes)
    }

    private func story(_ seed: UInt64, count: Int = 9) throws -> StoryCoder {
        var generator = FixedGenerator(state: seed)
        let frames = try (0..<count).map { _ -> (AnimationFrame, Bitmap) in
            let isWhole = Int.random(in: 0..<3, using: &generator) == 0
            let x = isWhole ? 0 : Int.random(in: 0..<6, using: &generator)
            let y = isWhole ? 0 : Int.random(in: 0..<5, using: &generator)
            let width = isWhole ? 6 : Int.random(in: 1...6 - x, using: &generator)
            let height = isWhole ? 5 : Int.random(in: 1...5 - y, using: &generator)
            let frame = AnimationFrame(
                rect: PixelRect(x: x, y: y, width: width, height: height), duration: .milliseconds(40),
                disposal: [.keep, .clear, .restore][Int.random(in: 0..<3, using: &generator)],
                blend: Bool.random(using: &generator) ? .over : .replace)
            return (frame, try patch(frame.rect.size, &generator, opaque: Bool.random(using: &generator)))
        }
        return StoryCoder(size: Self.size, frames)
    }

    /// Every canvas, by the definition of disposal and blend.
    private func canvases(_ story: StoryCoder) throws -> [[UInt8]] {
        var canvas = [UInt8](repeating: 0, count: Self.size.width * Self.size.height * 4)
        return try story.frames.enumerated().map { index, frame in
            let before = canvas
            let pixels = try story.pixels(at: index, context: .uncancellable).bytes
            for y in 0..<frame.rect.size.height {
                for x in 0..<frame.rect.size.width {
                    let source = (y * frame.rect.size.width + x) * 4
                    let target = ((y + frame.rect.y) * Self.size.width + x + frame.rect.x) * 4
                    let rest = frame.blend == .over ? 255 - Int(pixels[source + 3]) : 0
                    for channel in 0..<4 {
                        let below = (Double(canvas[target + channel]) * Double(rest) / 255).rounded()
                        canvas[target + channel] = pixels[source + channel] + UInt8(below)
                    }
                }
            }
            defer {
                if frame.disposal == .restore { canvas = before }
                if frame.disposal == .clear { clear(frame.rect, &canvas) }
            }
            return canvas
        }
    }

    private func clear(_ rect: PixelRect, _ canvas: inout [UInt8]) {
        for y in rect.y..<rect.y + rect.size.height {
            let start = (y * Self.size.width + rect.x) * 4
            canvas.replaceSubrange(
                start..<start + rect.size.width * 4, with: repeatElement(0, count: rect.size.width * 4))
        }
    }

    private func animation(_ story: StoryCoder) throws -> AnimatedImage {
        try #require(try CoderRegistry([story]).decode(StoryCoder.file).animation)
    }

    @Test(arguments: UInt64(0)..<60) func anyOrderGivesTheSameFrames(seed: UInt64) throws {
        let story = try story(seed)
        let expected = try canvases(story)
        let animation = try animation(story)
        var generator = FixedGenerator(state: seed &+ 1000)
        let indices = Array(expected.indices)
        for index in indices + indices.reversed() + indices.shuffled(using: &generator) {
            let frame = try animation.frame(at: index)
            #expect(largestDifference(frame.bytes, expected[index]) == 0, "frame \(index)")
            if frame.isOpaque {
                #expect(stride(from: 3, to: frame.byteCount, by: 4).allSatisfy { frame.bytes[$0] == 255 })
            }
        }
    }

    @Test func framesInTurnAreDecodedOnceEach() throws {
        let story = try story(7)
        let animation = try animation(story)
        for index in 0..<animation.frameCount { _ = try animation.frame(at: index) }
        #expect(story.decodes == Array(0..<animation.frameCount))
        _ = try animation.frame(at: animation.frameCount - 1)
        #expect(story.decodes.count == animation.frameCount)
    }

    @Test func aJumpBeginsAtTheNearestFrameThatStandsAlone() throws {
        var generator = FixedGenerator(state: 1)
        let part = PixelRect(x: 1, y: 1, width: 2, height: 2)
        let frames = try [
            AnimationFrame(rect: Self.whole, duration: .zero),
            AnimationFrame(rect: part, duration: .zero),
            AnimationFrame(rect: Self.whole, duration: .zero, blend: .replace),
            AnimationFrame(rect: part, duration: .zero, disposal: .restore),
            AnimationFrame(rect: part, duration: .zero),
            AnimationFrame(rect: Self.whole, duration: .zero, disposal: .clear),
            AnimationFrame(rect: part, duration: .zero),
        ].map { ($0, try patch($0.rect.size, &generator, opaque: false)) }
        let story = StoryCoder(size: Self.size, frames)
        // Restored frames leave nothing behind and are passed over; behind a cleared canvas nothing is needed.
        _ = try animation(story).frame(at: 4)
        #expect(story.decodes == [2, 4])
        _ = try animation(story).frame(at: 6)
        #expect(story.decodes == [2, 4, 6])
    }

    @Test func optionsChooseTheFrames() throws {
        let story = try story(3)
        let coders = CoderRegistry([story])
        let first = try coders.decode(StoryCoder.file, options: DecodeOptions(firstFrameOnly: true))
        #expect(first.animation == nil)
        #expect(first.info.frameCount == 9)
        #expect(story.decodes.isEmpty)
        let all = try #require(
            try coders.decode(StoryCoder.file, options: DecodeOptions(preloadAllFrames: true)).animation)
        #expect(story.decodes == Array(0..<9))
        _ = try all.frame(at: 4)
        #expect(story.decodes.count == 9)
        #expect(all.cost == 9 * 6 * 5 * 4)
        #expect(all.loopCount == 3)
    }

    @Test func framesHaveTheSizeThatWasAskedFor() throws {
        let story = try story(3)
        let options = DecodeOptions(target: TargetSize(PixelSize(3, 3), mode: .fit))
        let image = try CoderRegistry([story]).decode(StoryCoder.file, options: options)
        let animation = try #require(image.animation)
        #expect(animation.size == image.size)
        #expect(try animation.frame(at: 5).size == image.size)
    }

    @Test func aCancelledFrameLeavesTheOthersRight() throws {
        let story = try story(11)
        let expected = try canvases(story)
        let animation = try animation(story)
        _ = try animation.frame(at: 2)
        #expect(throws: CancellationError.self) {
            try animation.frame(at: 8, context: WorkContext(isCancelled: { true }))
        }
        #expect(try animation.frame(at: 3).bytes == expected[3])
    }

    @Test func aReaderThatBreaksItsPromiseIsAnError() throws {
        let patch = try sampleBitmap(PixelSize(2, 2))
        let rects = [
            PixelRect(x: 5, y: 0, width: 2, height: 2), PixelRect(x: -1, y: 0, width: 2, height: 2),
            PixelRect(x: 0, y: 0, width: 3, height: 2),
        ]
        for rect in rects {
            let frame = AnimationFrame(rect: rect, duration: .zero)
            let animation = try animation(StoryCoder(size: Self.size, [(frame, patch), (frame, patch)]))
            #expect(throws: BitmapError.self) { try animation.frame(at: 1) }
        }
    }
}
