import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// Every frame of every animated fixture against the pixels that another decoder composed.
@Suite struct AnimationGoldenTests {
    let registry = CoderRegistry.standard()

    @Test(arguments: Fixture.animated)
    func framesAreTheirGoldens(_ fixture: Fixture) throws {
        let image = try registry.decode(fixture.data())
        let animation = try #require(image.animation)
        try #require(animation.frameCount == fixture.frameGoldens?.count)
        // In turn, then from the last to the first: what was shown before must not matter.
        let indices = Array(0..<animation.frameCount)
        for index in indices + indices.reversed() {
            try expect(try animation.frame(at: index), frame: index, of: fixture)
        }
    }

    @Test(arguments: Fixture.animated)
    func durationsAndLoopsAreTheFiles(_ fixture: Fixture) throws {
        let animation = try #require(try registry.decode(fixture.data()).animation)
        let milliseconds = animation.durations.map { $0 / .milliseconds(1) }
        let delays = try #require(fixture.delays)
        #expect(milliseconds.count == delays.count)
        #expect(zip(milliseconds, delays).allSatisfy { abs($0 - $1) < 0.001 })
        #expect(animation.loopCount == fixture.loops)
    }

    private func expect(_ frame: Bitmap, frame index: Int, of fixture: Fixture) throws {
        #expect(frame.size == fixture.size)
        let golden = try fixture.goldenPixels(frame: index)
        if fixture.exact {
            let difference = try #require(largestDifference(frame.bytes, golden))
            #expect(difference <= fixture.tolerance ?? 0, "frame \(index)")
        } else {
            #expect(signalToNoise(frame.bytes, golden) >= 45, "frame \(index)")
        }
    }
}
