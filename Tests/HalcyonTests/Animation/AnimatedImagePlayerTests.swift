import Foundation
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// The player, with a clock that is turned and frames that are decoded by hand.
@Suite struct AnimatedImagePlayerTests {
    private let work = HeldWork()

    /// The frames and events of a player.
    private final class Notes {
        var frames: [Int] = []
        var loops: [Int?] = []
        var failures: [Int] = []
        var ends = 0
    }

    private func player(
        _ image: Image, _ configuration: AnimatedImagePlayer.Configuration = .init(), isComplete: Bool = true,
        pool: FramePool? = nil
    ) throws -> (AnimatedImagePlayer, Notes) {
        let player = try #require(
            AnimatedImagePlayer(
                image, configuration: configuration, isComplete: isComplete, pool: pool ?? work.pool()))
        let notes = Notes()
        player.onFrame = { image, index in
            #expect(Film.index(of: image) == index)
            notes.frames.append(index)
        }
        player.onLoop = { notes.loops.append($0) }
        player.onEnd = { notes.ends += 1 }
        player.onFailure = { _, index in notes.failures.append(index) }
        return (player, notes)
    }

    /// Shows a time after all work is done, in units of 100 ms.
    private func run(_ player: AnimatedImagePlayer, _ times: some Sequence<Int>) {
        for time in times {
            work.doAll()
            player.advance(to: .milliseconds(time * 100))
        }
    }

    @Test func eachFrameIsShownWhenItIsDue() throws {
        let film = Film()
        let (player, notes) = try player(film.image(frames: 3, units: [2, 1, 3]))
        #expect(Film.index(of: player.currentFrame) == 0 && !player.isPlaying && player.timeToNextFrame == nil)
        player.play()
        #expect(player.isPlaying && player.timeToNextFrame == .zero)
        run(player, 0...12)
        #expect(notes.frames == [0, 1, 2, 0, 1, 2, 0])
        #expect(notes.loops == [nil, nil] && notes.ends == 0)
        #expect(player.currentFrameIndex == 0 && player.timeToNextFrame == .milliseconds(200))
        // The first is there from the beginning.
        #expect(Set(film.asked) == [1, 2])
    }

    @Test func aStillImageHasNoPlayer() throws {
        #expect(AnimatedImagePlayer(try Film().image(frames: 2).replacing(Film.bitmap(0))) == nil)
    }

    @Test(arguments: [
        (RepeatCount.file, [2, 1, 0]), (.finite(2), [1, 0]), (.once, [0]), (.finite(-3), [0]),
    ])
    func playerEndsAfterRepeatCount(count: RepeatCount, remaining: [Int]) throws {
        let (player, notes) = try player(Film().image(frames: 2, loops: 3), .init(repeatCount: count))
        player.play()
        run(player, 0...20)
        #expect(notes.loops == remaining && notes.ends == 1)
        #expect(!player.isPlaying && player.isOver && player.currentFrameIndex == 1)
        #expect(player.timeToNextFrame == nil)
        // And again from the start.
        player.play()
        run(player, 30...60)
        #expect(notes.loops == remaining + remaining && notes.ends == 2)
    }

    @Test func infiniteRepeatCountNeverEnds() throws {
        let (player, notes) = try player(Film().image(frames: 2, loops: 1), .init(repeatCount: .infinite))
        player.play()
        run(player, 0...20)
        #expect(player.isPlaying && player.loopsRemaining == nil && notes.ends == 0 && notes.loops.count == 10)
    }

    @Test func lateFramesAreSkippedByTheClock() throws {
        let (player, notes) = try player(Film().image(frames: 8))
        player.play()
        run(player, [0, 1, 6, 7, 19])
        #expect(notes.frames == [0, 1, 6, 7, 3])
        #expect(notes.loops == [nil])
    }

    /// The due frame is not decoded in time: the newest before it is shown, and later ones never before it.
    @Test func missingFrameIsReplacedByNewestEarlierFrame() throws {
        let (player, notes) = try player(Film().image(frames: 8))
        let ready = Lock(0)
        player.onFrameReady = { ready.withLock { $0 += 1 } }
        player.play()
        player.advance(to: .zero)
        #expect(notes.frames == [0])
        player.advance(to: .milliseconds(100))
        #expect(notes.frames == [0] && player.timeToNextFrame == nil)
        work.doOne()
        #expect(ready.withLock { $0 } == 1)
        // Too late for it; it is the newest that there is.
        player.advance(to: .milliseconds(310))
        #expect(notes.frames == [0, 1] && player.timeToNextFrame == nil)
        work.doAll()
        #expect(ready.withLock { $0 } == 2)
        player.advance(to: .milliseconds(320))
        #expect(notes.frames == [0, 1, 3] && player.timeToNextFrame == .milliseconds(80))
    }

    @Test func stoppedPlayerKeepsFrameAndReleasesBuffer() throws {
        let film = Film()
        let pool = work.pool()
        let (player, notes) = try player(film.image(frames: 4), pool: pool)
        player.play()
        run(player, 0...2)
        #expect(pool.keptBytes == 3 * 4)
        player.stop()
        #expect(pool.keptBytes == 0 && player.currentFrameIndex == 2 && Film.index(of: player.currentFrame) == 2)
        run(player, 3...9)
        #expect(notes.frames == [0, 1, 2])
        player.play()
        run(player, [20, 21])
        #expect(notes.frames == [0, 1, 2, 2, 3])
        player.stop(rewinding: true)
        #expect(player.currentFrameIndex == 3)
        player.play()
        run(player, [30, 31])
        #expect(notes.frames.suffix(2) == [0, 1])
    }

    @Test func aSeekShowsItsFrame() throws {
        let (player, notes) = try player(Film().image(frames: 6, loops: 3))
        player.seek(to: 4)
        #expect(player.timeToNextFrame == .zero)
        player.advance(to: .zero)
        #expect(notes.frames == [] && player.timeToNextFrame == nil)
        run(player, [1, 2, 3])
        // It stands still, and keeps no frames.
        #expect(notes.frames == [4] && player.timeToNextFrame == nil && !player.isPlaying)
        player.play()
        player.seek(to: 2, loop: 2)
        run(player, [10, 11, 12, 13, 14])
        #expect(notes.frames == [4, 2, 3, 4, 5] && notes.ends == 1 && notes.loops == [0])
        player.seek(to: 99)
        run(player, [20])
        #expect(player.currentFrameIndex == 5)
    }

    @Test func rateAndHighestRate() throws {
        let (player, notes) = try player(Film().image(frames: 8))
        player.rate = 2
        player.play()
        run(player, 0...2)
        #expect(notes.frames == [0, 2, 4] && player.timeToNextFrame == .milliseconds(50))
        player.rate = 0
        run(player, 3...9)
        #expect(notes.frames == [0, 2, 4] && player.timeToNextFrame == nil)
        player.rate = .nan
        #expect(player.rate == 1)
        player.rate = -4
        #expect(player.rate == 0)
        player.rate = 5000
        #expect(player.rate == 1000)
        player.rate = 1
        player.maximumFrameRate = 5
        run(player, 9...13)
        #expect(notes.frames == [0, 2, 4, 5, 7])
        #expect(player.timeToNextFrame == .milliseconds(100))
        player.maximumFrameRate = .infinity
        #expect(player.timeToNextFrame == .zero)
    }

    @Test func aBrokenFrameIsReportedAndLeftOut() throws {
        let (player, notes) = try player(Film(torn: [1]).image(frames: 3, loops: 2))
        player.play()
        run(player, 0...9)
        #expect(notes.frames == [0, 2, 0, 2] && notes.failures == [1, 1] && notes.ends == 1)
    }

    @Test func aBrokenLastFrameEndsAllTheSame() throws {
        let (player, notes) = try player(Film(torn: [1]).image(frames: 2, loops: 1))
        player.play()
        run(player, 0...5)
        #expect(notes.failures == [1] && notes.ends == 1 && player.currentFrameIndex == 0)
    }

    @Test func withoutTheBackgroundNoFrameIsLate() throws {
        let (player, notes) = try player(Film().image(frames: 4), .init(backgroundDecode: false))
        player.play()
        for time in 0...4 { player.advance(to: .milliseconds(100 * time)) }
        #expect(notes.frames == [0, 1, 2, 3, 0])
    }

    @Test(arguments: [
        (PlaybackMode.reverse, [2, 1, 0, 2]), (.bounce, [0, 1, 2, 1, 0]), (.reverseBounce, [2, 1, 0, 1, 2]),
    ])
    func playbackModesOrderFrames(mode: PlaybackMode, frames: [Int]) throws {
        let (player, notes) = try player(Film().image(frames: 3), .init(mode: mode))
        player.play()
        // The time stands until the first frame is there; that of the image itself is.
        if frames[0] != 0 { player.advance(to: .seconds(-5)) }
        run(player, 0..<frames.count)
        #expect(notes.frames == frames)
    }

    /// Its last frame is broken: played once more it begins anew all the same.
    @Test func finishedPlayerRestarts() throws {
        let (player, notes) = try player(Film(torn: [1]).image(frames: 2, loops: 1))
        for start in [0, 10] {
            player.play()
            run(player, start..<start + 5)
        }
        #expect(notes.frames == [0, 0] && notes.ends == 2 && player.timeToNextFrame == nil)
        // There and back, it ends where it began.
        let bounce = try self.player(Film().image(frames: 3, loops: 1), .init(mode: .bounce))
        bounce.0.play()
        run(bounce.0, 0...8)
        #expect(bounce.1.frames == [0, 1, 2, 1, 0] && bounce.1.ends == 1)
    }

    /// As with a slider beside a player that stands still.
    @Test func playStartsAtSoughtFrame() throws {
        let (player, notes) = try player(Film().image(frames: 4))
        player.seek(to: 2)
        run(player, [0])
        #expect(notes.frames == [2] && player.timeToNextFrame == nil)
        player.play()
        run(player, [1, 2, 3])
        #expect(notes.frames == [2, 3, 0])
    }

    /// The time that has passed by then counts at the former rate, and a player that stops has passed it.
    @Test func aChangeOfRateWithinAFrame() throws {
        let (player, notes) = try player(Film().image(frames: 8, units: [Int](repeating: 10, count: 8)))
        player.play()
        run(player, [0])
        player.clock = { .milliseconds(500) }
        player.rate = 5
        #expect(player.timeToNextFrame == .milliseconds(100) && notes.frames == [0])
        player.clock = { .milliseconds(560) }
        player.stop()
        player.clock = nil
        player.play()
        run(player, [10])
        #expect(player.timeToNextFrame == .milliseconds(40))
    }

    /// The end is reported when it is passed on the way to a stop.
    @Test func stopAfterEndReportsEndOnce() throws {
        for hasFrames in [true, false] {
            let (player, notes) = try player(Film().image(frames: 3, loops: 1))
            player.play()
            player.advance(to: .zero)
            if hasFrames { work.doAll() }
            player.clock = { .seconds(5) }
            player.stop()
            #expect(player.isOver && notes.ends == 1 && !player.isPlaying)
            player.stop()
            #expect(notes.ends == 1)
        }
    }

    /// The same animation at another size.
    @Test func onePlayerTakesOverFromAnother() throws {
        let former = try player(Film().image(frames: 4, loops: 2))
        former.0.play()
        run(former.0, 0...6)
        (former.0.rate, former.0.maximumFrameRate) = (2, 9)
        former.0.stop()
        let (player, _) = try player(Film().image(frames: 4, loops: 2))
        player.takeOver(from: former.0)
        #expect(player.currentFrameIndex == 2 && Film.index(of: player.currentFrame) == 2)
        run(player, [0])
        #expect(player.currentFrameIndex == 2 && player.loopsRemaining == 1 && !player.isPlaying)
        #expect(player.rate == 2 && player.maximumFrameRate == 9)
        player.play()
        run(player, [10, 11])
        #expect(former.1.frames == [0, 1, 2, 3, 0, 1, 2] + [2, 3])
        // From a player of another animation it takes over only the rate.
        let (other, _) = try self.player(Film().image(frames: 5, loops: 2))
        other.takeOver(from: player)
        #expect(other.currentFrameIndex == 0 && other.loopsRemaining == 2 && other.rate == 2)
    }

    /// The player was not to be called meanwhile, so the time does not count.
    @Test func pausedTimeIsNotCaughtUp() throws {
        let (player, notes) = try player(Film().image(frames: 8))
        player.play()
        run(player, [0, 1])
        player.rate = 0
        run(player, [2])
        player.rate = 1
        run(player, [500, 501])
        #expect(notes.frames == [0, 1, 2])
        player.rate = 1e-20
        #expect(player.rate == 0 && player.timeToNextFrame == nil)
        let arriving = try self.player(Film().image(frames: 2), isComplete: false)
        arriving.0.play()
        run(arriving.0, [0, 1])
        arriving.0.update(try Film().image(frames: 4), isComplete: true)
        run(arriving.0, [500, 501])
        #expect(arriving.1.frames == [0, 1, 2])
    }

    @Test func aSeekInWhatArrivesStaysWithinIt() throws {
        let (player, _) = try player(Film().image(frames: 2), isComplete: false)
        player.play()
        player.seek(to: 0, loop: 5)
        run(player, 0...3)
        #expect(player.currentFrameIndex == 1)
    }

    @Test func callbacksMayStopSeekOrRestart() throws {
        let (player, notes) = try player(Film().image(frames: 2, loops: 2))
        player.onFrame = { _, index in if index == 1 { player.stop() } }
        player.play()
        run(player, 0...3)
        #expect(!player.isPlaying && notes.ends == 0)
        player.onFrame = nil
        player.onLoop = { _ in player.seek(to: 1, loop: 0) }
        player.play()
        run(player, 10...30)
        #expect(player.isPlaying && notes.ends == 0)
        player.onLoop = nil
        player.onEnd = { player.play() }
        run(player, 31...60)
        #expect(player.isPlaying)
        (player.onEnd, player.onFrame) = (nil, nil)
    }

    @Test func aTransformerChangesEachFrame() throws {
        let film = Film()
        let (player, _) = try player(film.image(frames: 3), .init(transformer: Brighter()))
        var shown: [Int?] = []
        player.onFrame = { image, _ in shown.append(Film.index(of: image)) }
        #expect(player.currentFrame == nil && Film.index(of: player.posterImage) == 0)
        player.play()
        run(player, 0...3)
        #expect(shown == [100, 101, 102, 100])
    }

    private struct Brighter: ImageProcessor {
        func encode(into key: inout KeyEncoder) { key.encode(type: "org.example.brighter", version: 1) }
        func process(_ image: Image, context: WorkContext) throws -> Image {
            image.replacing(try Film.bitmap((Film.index(of: image) ?? 0) + 100))
        }
    }

    @Test func arrivingFramesArePlayed() throws {
        let (player, notes) = try player(Film().image(frames: 2, loops: 1), isComplete: false)
        player.play()
        run(player, 0...4)
        #expect(notes.frames == [0, 1] && player.isPlaying && player.timeToNextFrame == nil)
        player.update(try Film().image(frames: 3, loops: 1), isComplete: false)
        run(player, 5...6)
        #expect(notes.frames == [0, 1, 2])
        player.update(try Film().image(frames: 4, loops: 1), isComplete: true)
        run(player, 7...9)
        #expect(notes.frames == [0, 1, 2, 3] && notes.ends == 1)
    }

    @Test func reversePlaybackWaitsForLastFrame() throws {
        let (player, notes) = try player(Film().image(frames: 2), .init(mode: .reverse), isComplete: false)
        player.play()
        run(player, 0...4)
        #expect(notes.frames == [0])
        player.update(try Film().image(frames: 3), isComplete: true)
        run(player, 5...8)
        #expect(notes.frames == [0, 2, 1, 0, 2])
    }

    @Test func realFramesOfAFile() throws {
        let image = try CoderRegistry.shared.decode(TestFiles.data("animation/mixed.gif"))
        let animation = try #require(image.animation)
        let player = try #require(
            AnimatedImagePlayer(image, configuration: .init(repeatCount: .once), pool: work.pool()))
        var shown: [Int] = []
        player.onFrame = { frame, index in
            shown.append(index)
            let expected = try? animation.frame(at: index)
            #expect(frame.withPixels { pixels in expected?.withPixels { $0.elementsEqual(pixels) } } == true)
        }
        player.play()
        var time: Duration = .zero
        while player.isPlaying {
            work.doAll()
            player.advance(to: time)
            time += player.timeToNextFrame ?? .zero
        }
        #expect(shown == Array(0..<animation.frameCount))
        #expect(time == animation.playedDuration)
    }
}
