import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Frames as a sequence, by a clock that is turned by hand.
@Suite(.timeLimit(.minutes(5))) struct TimedFramesTests {
    @Test func framesComeWhenTheyAreDue() async throws {
        let clock = ManualClock()
        let start = clock.now
        // A unit that a clock of seconds counts exactly.
        let unit = Duration.milliseconds(125)
        let image = try Film().image(frames: 4, units: [1, 2, 1, 1], unit: unit, loops: 1)
        let frames = image.playedFrames(time: clock.timeSource)
        let reader = Task {
            var shown: [(Int, Int)] = []
            for try await frame in frames {
                #expect(Film.index(of: frame.image) == frame.index)
                shown.append((frame.index, Int((clock.now.timeIntervalSince(start) * 8).rounded())))
            }
            return shown
        }
        for _ in 0..<5 {
            try await clock.waitForSleepers()
            clock.advance(by: unit)
        }
        let shown = try await reader.value
        #expect(shown.map(\.0) == [0, 1, 2, 3] && shown.map(\.1) == [0, 1, 3, 4])
    }

    @Test func aStillImageIsOneFrame() async throws {
        let image = Image(
            bitmap: try Film.bitmap(7), info: ImageInfo(format: .png, size: PixelSize(1, 1), hasAlpha: false))
        var shown: [Int?] = []
        for try await frame in image.playedFrames() { shown.append(Film.index(of: frame.image)) }
        #expect(shown == [7])
    }

    @Test func aCancelledReaderEnds() async throws {
        let clock = ManualClock()
        let frames = try Film().image(frames: 4).playedFrames(time: clock.timeSource)
        let reader = Task {
            for try await _ in frames {}
        }
        try await clock.waitForSleepers()
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }
}
