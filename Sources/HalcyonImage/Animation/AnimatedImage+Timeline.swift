/// Frame indices at equal intervals, for a display that has no durations of its own.
public struct UniformTimeline: Hashable, Sendable {
    /// The duration of each entry.
    public let interval: Duration
    /// The frame of each entry; a frame that is shown longer has several entries.
    public let frames: [Int]

    /// Creates a timeline from the frame index of each entry.
    public init(interval: Duration, frames: [Int]) {
        self.interval = interval
        self.frames = frames
    }

    /// The duration of all entries together.
    public var duration: Duration { interval * frames.count }

    /// Returns the inverse: each run of one frame becomes an entry with its duration.
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
    /// Returns the played durations, in whole milliseconds, as equal steps of their greatest common divisor.
    ///
    /// Frame 0 for 3 s and frame 1 for 1 s become 0, 0, 0, 1 with an interval of 1 s. Only indices are repeated, never a
    /// pixel.
    ///
    /// - Parameter maximumCount: the maximum number of entries. 100,000 by default.
    /// - Returns: nil if there would be more.
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

    /// Returns the duration in milliseconds, rounded to the nearest, at least 1.
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
