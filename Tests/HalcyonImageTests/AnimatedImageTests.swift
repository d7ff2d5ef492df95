import HalcyonImage
import HalcyonSystem
import Testing

@Suite struct AnimatedImageTests {
    private func image(_ level: UInt8, _ size: PixelSize = PixelSize(2, 2)) throws -> Image {
        try Image(
            width: size.width, height: size.height, pixels: [UInt8](repeating: level, count: size.width * size.height),
            layout: .gray)
    }

    private func animation(_ durations: [Duration]) throws -> AnimatedImage {
        try AnimatedImage(frames: durations.enumerated().map { (try image(UInt8($0.offset)), $0.element) })
    }

    /// Frames that cannot be made.
    private struct Endless: AnimationFrameSource {
        var cost: Int { 0 }

        func frame(at index: Int, context: WorkContext) throws -> Bitmap {
            Issue.record("frame \(index) was made")
            throw AnimationError.noFrames
        }
    }

    /// Limits on the work of all frames allow as many pixels as take 16 GiB when they are kept.
    @Test func framesThatTakeTooMuchAreNotPreloaded() throws {
        let animation = try AnimatedImage(
            source: Endless(), size: PixelSize(1 << 16, 1 << 16), durations: Array(repeating: .seconds(1), count: 256),
            loopCount: 0)
        #expect(throws: AnimationError.self) { try animation.preloaded() }
        #expect(throws: AnimationError.tooLarge(bytes: 1 << 42, limit: (1 << 42) - 1)) {
            try animation.preloaded(maximumBytes: (1 << 42) - 1)
        }
        let huge = try AnimatedImage(
            source: Endless(), size: PixelSize(.max, 2), durations: [.seconds(1)], loopCount: 0)
        #expect(throws: AnimationError.self) { try huge.preloaded() }
        // The frames of a preloaded animation are in memory already, whatever the limit.
        let kept = try self.animation([.seconds(1), .seconds(1)])
        #expect(try kept.preloaded(maximumBytes: 0).frameCount == 2)
    }

    @Test func threeSecondsAndOneAreAAAB() throws {
        let timeline = try #require(try animation([.seconds(3), .seconds(1)]).uniformTimeline())
        #expect(timeline.frames == [0, 0, 0, 1])
        #expect(timeline.interval == .seconds(1))
        #expect(timeline.duration == .seconds(4))
    }

    @Test(arguments: [[30, 70, 100], [40], [11, 13], [1000, 500, 250]])
    func mergingUndoesTheTimeline(milliseconds: [Int]) throws {
        let timeline = try #require(try animation(milliseconds.map { .milliseconds($0) }).uniformTimeline())
        let merged = timeline.merged()
        #expect(merged.map(\.frame) == Array(milliseconds.indices))
        #expect(merged.map(\.duration) == milliseconds.map { .milliseconds($0) })
    }

    @Test(arguments: [(0, 100), (10, 100), (11, 11), (100, 100), (-5, 100)])
    func shortDelaysPlayAsAHundredMilliseconds(stored: Int, played: Int) throws {
        let animation = try animation([.milliseconds(stored), .seconds(1)])
        #expect(animation.durations[0] == .milliseconds(stored))
        #expect(animation.playedDuration(at: 0) == .milliseconds(played))
        #expect(animation.playedDuration == .milliseconds(played + 1000))
        #expect(animation.playedDuration(at: 2) == .zero)
    }

    @Test func aTimelineBeyondItsLimitIsNone() throws {
        let animation = try animation([.milliseconds(11), .seconds(3600)])
        #expect(animation.uniformTimeline() == nil)
        #expect(animation.uniformTimeline(maximumCount: 3_600_011)?.frames.count == 3_600_011)
        #expect(animation.uniformTimeline(maximumCount: 3_600_010) == nil)
        // Durations that no counter holds.
        let endless = try self.animation([.seconds(Int64.max), .milliseconds(11), .seconds(Int64.max)])
        #expect(endless.uniformTimeline() == nil)
    }

    @Test func framesMustBeThereAndOfOneSize() throws {
        #expect(throws: AnimationError.noFrames) { try AnimatedImage(frames: []) }
        let (small, large) = (try image(1), try image(1, PixelSize(3, 2)))
        #expect(throws: AnimationError.differentSizes(PixelSize(2, 2), PixelSize(3, 2))) {
            try AnimatedImage(frames: [(small, .seconds(1)), (large, .seconds(1))])
        }
    }

    @Test(arguments: [-1, 2, Int.max, Int.min]) func noOtherFrameIsThere(index: Int) throws {
        let animation = try animation([.seconds(1), .seconds(1)])
        #expect(throws: AnimationError.noSuchFrame(index, count: 2)) { try animation.frame(at: index) }
    }

    @Test func aFrameInSeveralPlacesCostsOnce() throws {
        let (first, second) = (try image(1), try image(2))
        let frames = [first, second, first, first].map { ($0, Duration.seconds(1)) }
        let animation = try AnimatedImage(frames: frames)
        #expect(animation.cost == first.cost + second.cost)
        #expect(try animation.frame(at: 3) === first.bitmap)
        #expect(animation.loopCount == 0)
    }
}
