import Testing

@testable import Halcyon

/// The moments at which a player is over, its clock begins, and a frame is just in time.
@Suite struct AnimatedImagePlayerBoundaryTests {
    private let work = HeldWork()

    private func player(frames: Int, loops: Int = 0) throws -> AnimatedImagePlayer {
        try #require(AnimatedImagePlayer(Film().image(frames: frames, loops: loops), pool: work.pool()))
    }

    private func advance(_ player: AnimatedImagePlayer, toMilliseconds time: Int) {
        work.doAll()
        player.advance(to: .milliseconds(time))
    }

    /// Until its last frame is there, it still plays.
    @Test func itIsOverOnceItsLastFrameIsShown() throws {
        let player = try player(frames: 2, loops: 1)
        #expect(!player.isOver)
        player.play()
        player.advance(to: .zero)
        player.advance(to: .seconds(5))
        #expect(player.isPlaying && !player.isOver && player.currentFrameIndex == 0)
        advance(player, toMilliseconds: 5000)
        #expect(!player.isPlaying && player.isOver && player.currentFrameIndex == 1)
        player.play()
        #expect(!player.isOver)
    }

    /// It begins with the first `advance(to:)`; until then, a change of a setting has no time to account for.
    @Test func noTimePassesBeforeTheFirstAdvance() throws {
        let player = try player(frames: 8)
        var frames: [Int] = []
        player.onFrame = { _, index in frames.append(index) }
        player.clock = { .seconds(5) }
        player.play()
        player.rate = 2
        #expect(frames == [] && player.timeToNextFrame == .zero)
        player.clock = nil
        advance(player, toMilliseconds: 7000)
        advance(player, toMilliseconds: 7050)
        #expect(frames == [0, 1])
    }

    /// Time that a clock repeats does not count twice.
    @Test func aClockThatGoesBack() throws {
        let player = try player(frames: 8)
        player.play()
        for time in [0, 100, 200, 300] { advance(player, toMilliseconds: time) }
        for time in [100, 300] {
            advance(player, toMilliseconds: time)
            #expect(player.currentFrameIndex == 3)
        }
        advance(player, toMilliseconds: 400)
        #expect(player.currentFrameIndex == 4)
    }

    /// A frame is shown up to 3 ms before the highest rate allows it.
    @Test func threeMillisecondsAreTolerated() throws {
        let player = try player(frames: 8)
        player.maximumFrameRate = 4
        player.play()
        advance(player, toMilliseconds: 0)
        advance(player, toMilliseconds: 246)
        #expect(player.currentFrameIndex == 0)
        advance(player, toMilliseconds: 247)
        #expect(player.currentFrameIndex == 2)
    }

    @Test func aThousandthIsTheLowestRate() throws {
        let player = try player(frames: 2)
        player.rate = 0.001
        #expect(player.rate == 0.001)
        player.rate = 0.001.nextDown
        #expect(player.rate == 0)
        player.rate = 1000
        #expect(player.rate == 1000)
    }
}
