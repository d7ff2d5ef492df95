import Testing

@testable import Halcyon

/// The arithmetic of playing: which frame is due when.
@Suite struct PlaybackTests {
    private static func playback(
        _ units: [Int], mode: PlaybackMode = .forward, loops: Int = 0, isComplete: Bool = true
    ) -> Playback {
        Playback(durations: units.map { .milliseconds($0) }, mode: mode, loops: loops, isComplete: isComplete)
    }

    /// The frames at the starts of so many units of time.
    private static func frames(_ playback: Playback, _ count: Int) -> [Int] {
        var playback = playback
        return (0..<count).map { _ in
            defer { playback.advance(by: .milliseconds(1)) }
            return playback.frame
        }
    }

    @Test func eachFrameStandsForItsDuration() {
        #expect(Self.frames(Self.playback([2, 1, 3]), 14) == [0, 0, 1, 2, 2, 2, 0, 0, 1, 2, 2, 2, 0, 0])
    }

    @Test func playbackModesOrderFrames() {
        #expect(Self.frames(Self.playback([1, 2, 1], mode: .reverse), 8) == [2, 1, 1, 0, 2, 1, 1, 0])
        #expect(Self.frames(Self.playback([1, 1, 1], mode: .bounce), 9) == [0, 1, 2, 1, 0, 1, 2, 1, 0])
        #expect(Self.frames(Self.playback([1, 1, 1], mode: .reverseBounce), 6) == [2, 1, 0, 1, 2, 1])
        for mode in PlaybackMode.allCases {
            #expect(Self.frames(Self.playback([1], mode: mode), 3) == [0, 0, 0])
        }
        #expect(Self.frames(Self.playback([1, 1], mode: .bounce), 5) == [0, 1, 0, 1, 0])
    }

    @Test func finitePlaybackEndsOnLastFrame() {
        #expect(Self.frames(Self.playback([1, 1], loops: 2), 6) == [0, 1, 0, 1, 1, 1])
        #expect(Self.frames(Self.playback([1, 1, 1], mode: .reverse, loops: 1), 5) == [2, 1, 0, 0, 0])
        // There and back.
        #expect(Self.frames(Self.playback([1, 1, 1], mode: .bounce, loops: 1), 6) == [0, 1, 2, 1, 0, 0])
    }

    @Test func aLongTimeIsSkippedAtOnce() {
        var playback = Self.playback([2, 1, 3])
        playback.advance(by: .milliseconds(6 * 1_000_000_007 + 2))
        #expect(playback.frame == 1 && playback.loop == 1_000_000_007)
        playback.advance(by: .seconds(Int64.max))
        playback.advance(by: .seconds(Int64.max))
        #expect((0..<3).contains(playback.frame))
        var finite = Self.playback([2, 1, 3], loops: .max)
        finite.advance(by: .seconds(1_000_000_000))
        #expect(!finite.isOver && finite.tick > 0)
        var huge = Playback(durations: [.seconds(Int64.max), .seconds(Int64.max)])
        huge.advance(by: .seconds(Int64.max))
        #expect(huge.tick >= 0)
    }

    @Test func theTimeToTheNext() {
        var playback = Self.playback([2, 1], loops: 1)
        #expect(playback.untilNext == .milliseconds(2))
        playback.advance(by: .microseconds(500))
        #expect(playback.untilNext == .microseconds(1500))
        playback.advance(by: .milliseconds(2))
        #expect(playback.untilNext == .microseconds(500))
        playback.advance(by: .milliseconds(1))
        #expect(playback.isOver && playback.untilNext == nil)
        #expect(Self.playback([5]).untilNext == nil)
        #expect(Self.playback([5], loops: 1).untilNext == .milliseconds(5))
    }

    @Test func upcomingFramesFollowPlaybackOrder() {
        #expect(Self.playback([1, 1, 1, 1]).upcoming(3) == [0, 1, 2])
        var playback = Self.playback([1, 1, 1, 1])
        playback.advance(by: .milliseconds(3))
        #expect(playback.upcoming(3) == [3, 0, 1])
        #expect(playback.upcoming(9) == [3, 0, 1, 2])
        var once = Self.playback([1, 1, 1, 1], loops: 1)
        once.advance(by: .milliseconds(3))
        #expect(once.upcoming(3) == [3])
        #expect(Self.playback([1, 1, 1], mode: .bounce).upcoming(9) == [0, 1, 2])
        #expect(Self.playback([1, 1, 1], isComplete: false).upcoming(9) == [0, 1, 2])
    }

    @Test func seekIsClampedToFramesAndLoops() {
        var playback = Self.playback([1, 1, 1], loops: 3)
        playback.seek(to: 2, loop: 1)
        #expect(playback.frame == 2 && playback.loopsRemaining == 2)
        playback.seek(to: -5)
        #expect(playback.frame == 0 && playback.loop == 1)
        playback.seek(to: 99, loop: 99)
        #expect(playback.frame == 2 && playback.loop == 2)
        playback.seek(to: 0, loop: -1)
        #expect(playback.loop == 0)
        var endless = Self.playback([1, 1, 1], mode: .bounce)
        endless.seek(to: 1, loop: .max)
        #expect(endless.frame == 1 && endless.tick > 0)
    }

    @Test func incompletePlaybackHoldsAtLastArrivedFrame() {
        var playback = Self.playback([1, 1], loops: 1, isComplete: false)
        playback.advance(by: .milliseconds(50))
        #expect(playback.frame == 1 && playback.isHeld && playback.untilNext == nil && !playback.isOver)
        playback = playback.continued(as: Self.playback([1, 1, 1, 1], loops: 1, isComplete: false))
        #expect(playback.frame == 1 && playback.untilNext == .milliseconds(1))
        playback.advance(by: .milliseconds(2))
        #expect(playback.frame == 3 && playback.isHeld)
        playback = playback.continued(as: Self.playback([1, 1, 1, 1], loops: 1))
        playback.advance(by: .milliseconds(1))
        #expect(playback.isOver && playback.frame == 3)
    }

    @Test func reversePlaybackBeginsWhenComplete() {
        var playback = Self.playback([1, 1], mode: .reverse, isComplete: false)
        playback.advance(by: .milliseconds(50))
        #expect(playback.frame == 0 && playback.isHeld)
        playback = playback.continued(as: Self.playback([1, 1, 1], mode: .reverse))
        #expect(playback.frame == 2)
        var bounce = Self.playback([1, 1], mode: .bounce, isComplete: false)
        bounce.advance(by: .milliseconds(1))
        bounce = bounce.continued(as: Self.playback([1, 1, 1], mode: .bounce))
        #expect(Self.frames(bounce, 4) == [1, 2, 1, 0])
    }

    /// Any way of cutting a time into pieces comes to the same frame.
    @Test func playbackIsIndependentOfStepSize() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let units = (0..<Int.random(in: 1...6, using: &random)).map { _ in Int.random(in: 1...5, using: &random) }
            let mode = PlaybackMode.allCases.randomElement(using: &random) ?? .forward
            let start = Self.playback(units, mode: mode, loops: Int.random(in: 0...4, using: &random))
            var (once, pieces) = (start, start)
            let total = Int.random(in: 0...200, using: &random)
            once.advance(by: .microseconds(total * 100))
            var rest = total
            while rest > 0 {
                let piece = Int.random(in: 1...rest, using: &random)
                pieces.advance(by: .microseconds(piece * 100))
                rest -= piece
            }
            #expect(once.tick == pieces.tick && once.isOver == pieces.isOver && once.untilNext == pieces.untilNext)
        }
    }
}
