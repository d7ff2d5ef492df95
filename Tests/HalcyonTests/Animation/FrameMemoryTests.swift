import Foundation
import HalcyonSystem
import HalcyonTesting
import Testing

@testable import Halcyon

/// The frames that one player keeps: out of a pool of its own, while it is stopped, and until they are purged.
@Suite(.timeLimit(.minutes(5))) struct FrameMemoryTests {
    private let work = HeldWork()

    private func player(_ image: Image, _ pool: FramePool) throws -> AnimatedImagePlayer {
        try #require(AnimatedImagePlayer(image, configuration: .init(joinsOthers: false), pool: pool))
    }

    private func run(_ players: [AnimatedImagePlayer], _ times: some Sequence<Int>) {
        for time in times {
            work.doAll()
            for player in players { player.advance(to: .milliseconds(time * 100)) }
        }
    }

    @Test func aPlayerMayHaveItsOwnPoolAndBytes() async throws {
        let (own, other) = (work.pool(frames: 50), work.pool(frames: 50))
        let image = try Film().image(frames: 100)
        var configuration = AnimatedImagePlayer.Configuration()
        #expect(configuration.pool === FramePool.shared && configuration.maximumBytesAhead == 6 << 20)
        (configuration.pool, configuration.maximumBytesAhead) = (own, 3 * 4)
        let first = try #require(AnimatedImagePlayer(image, configuration: configuration))
        first.play()
        run([first], 0...5)
        // The one that is shown and three ahead, of which the last is decoded next.
        #expect(first.currentFrameIndex == 5 && own.keptBytes == 3 * 4)
        // The argument takes precedence.
        let second = try #require(AnimatedImagePlayer(image, configuration: configuration, pool: other))
        second.play()
        run([second], 0...1)
        #expect(other.keptBytes > 0)
        configuration.maximumBytesAhead = .min
        let least = try #require(AnimatedImagePlayer(image, configuration: configuration, pool: work.pool()))
        least.play()
        run([least], 0...5)
        #expect(least.currentFrameIndex == 5)
        // The frames of a sequence come out of it as well.
        configuration.pool = FramePool(limit: 200, memoryPressure: nil)
        let clock = ManualClock()
        let time = TimeSource({ clock.now }, wait: { clock.advance(by: $0) })
        for try await frame in image.playedFrames(configuration: configuration, time: time) where frame.index > 0 {
            #expect(configuration.pool.keptBytes > 0)
            break
        }
    }

    @Test func framesMayStayWhenStopped() throws {
        let (film, pool) = (Film(), work.pool(frames: 50))
        let image = try film.image(frames: 100)
        var configuration = AnimatedImagePlayer.Configuration()
        configuration.keepsFramesWhenStopped = true
        let player = try #require(AnimatedImagePlayer(image, configuration: configuration, pool: pool))
        player.play()
        run([player], 0...3)
        work.doAll()
        player.stop()
        #expect(pool.keptBytes == 11 * 4)
        let asked = film.asked
        // It goes on where it stopped, with the frames that it has.
        player.play()
        player.advance(to: .seconds(60))
        for time in 1...9 { player.advance(to: .seconds(60) + .milliseconds(time * 100)) }
        #expect(player.currentFrameIndex == 12 && film.asked == asked)
        player.stop(rewinding: true)
        #expect(pool.keptBytes > 0)
        // Another animation in its place leaves nothing of the former.
        player.update(try Film().image(frames: 100), isComplete: true)
        #expect(pool.keptBytes == 0)
    }

    @Test func keptFramesGoWithTheirPlayer() throws {
        let pool = work.pool()
        var configuration = AnimatedImagePlayer.Configuration()
        configuration.keepsFramesWhenStopped = true
        do {
            let player = try #require(
                AnimatedImagePlayer(Film().image(frames: 100), configuration: configuration, pool: pool))
            player.play()
            run([player], 0...3)
            player.stop()
            #expect(pool.keptBytes > 0)
        }
        #expect(pool.keptBytes == 0)
    }

    @Test func framesArePurgedByHand() throws {
        let (film, pool) = (Film(), work.pool(frames: 40))
        let image = try film.image(frames: 100)
        let (first, second) = (try player(image, pool), try player(image, pool))
        second.seek(to: 50)
        for player in [first, second] { player.play() }
        run([first, second], 0...3)
        work.doAll()
        #expect((first.currentFrameIndex, second.currentFrameIndex) == (3, 53))
        let both = pool.keptBytes
        first.purgeFrames()
        #expect(pool.keptBytes < both && Film.index(of: first.currentFrame) == 3)
        // The other one has all of its own.
        let asked = film.asked.count
        second.advance(to: .milliseconds(400))
        #expect(second.currentFrameIndex == 54 && film.asked.count == asked)
        // It waits for its next frame, which is purged again, and goes on.
        let ready = Lock(0)
        first.onFrameReady = { ready.withLock { $0 += 1 } }
        first.advance(to: .milliseconds(400))
        #expect(first.currentFrameIndex == 3 && first.timeToNextFrame == nil)
        first.purgeFrames()
        #expect(first.timeToNextFrame != nil && ready.withLock({ $0 }) == 1)
        run([first, second], 5...7)
        #expect((first.currentFrameIndex, second.currentFrameIndex) == (7, 57))
        for player in [first, second] { player.stop() }
        second.purgeFrames()
        #expect(pool.keptBytes == 0 && Film.index(of: second.currentFrame) == 57)
    }
}
