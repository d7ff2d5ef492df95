/// Frame indices in equal steps: what a display without durations of its own plays.
public struct UniformTimeline: Hashable, Sendable {
    /// How long each entry stands.
    public let interval: Duration
    /// The frame of each entry; a frame that stands longer is there several times.
    public let frames: [Int]

    public init(interval: Duration, frames: [Int]) {
        self.interval = interval
        self.frames = frames
    }

    public var duration: Duration { interval * frames.count }

    /// The inverse: each run of one frame becomes an entry with its duration.
    public func merged() -> [(frame: Int, duration: Duration)] {
        var runs: [(frame: Int, duration: Duration)] = []
        for frame in frames {
            if let last = runs.indices.last, runs[last].frame == frame {
                runs[last].duration += interval
            } else {
                runs.append((frame, interval))
            }
        }
        return runs
    }
}

extension AnimatedImage {
    /// The played durations, in whole milliseconds, as equal steps of their greatest common divisor.
    ///
    /// Frame 0 for 3 s and frame 1 for 1 s become 0, 0, 0, 1 at a step of 1 s. Only indices are repeated, never a pixel.
    ///
    /// - Parameter maximumCount: the most entries there may be. 100,000 by default.
    /// - Returns: nil where there would be more.
    public func uniformTimeline(maximumCount: Int = 100_000) -> UniformTimeline? {
        let milliseconds = durations.indices.map { Self.milliseconds(playedDuration(at: $0)) }
        let step = milliseconds.reduce(0, Self.greatestCommonDivisor)
        guard step > 0 else { return nil }
        var total = 0
        for count in milliseconds.map({ $0 / step }) {
            guard count <= maximumCount - total else { return nil }
            total += count
        }
        let frames = milliseconds.enumerated().flatMap { Array(repeating: $0.offset, count: $0.element / step) }
        return UniformTimeline(interval: .milliseconds(step), frames: frames)
    }

    /// To the nearest, at least 1.
    private static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return .max }
        return max(1, Int(clamping: whole) + Int((attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000))
    }

    private static func greatestCommonDivisor(_ left: Int, _ right: Int) -> Int {
        var (left, right) = (left, right)
        while right != 0 { (left, right) = (right, left % right) }
        return left
    }
}
