/// The position of an animation in its own time. It is pure arithmetic, without a clock and without frames.
///
/// A *step* is one frame's turn within a loop, a *tick* is a step counted from the very start.
struct Playback: Sendable {
    let mode: PlaybackMode
    /// The number of loops; 0 means for ever.
    let loops: Int
    let frameCount: Int
    /// Whether all frames have arrived. Until then the last known frame stands until there are more.
    let isComplete: Bool
    /// The end of each step, counted from the loop's start.
    private let ends: [Duration]

    /// The number of loops that have ended.
    private(set) var loop = 0
    /// The position within the loop.
    private var position: Duration = .zero

    init(durations: [Duration], mode: PlaybackMode = .forward, loops: Int = 0, isComplete: Bool = true) {
        // The last frame is not known yet, so only a playback in forward order can begin.
        let isKnown = isComplete || mode == .forward || mode == .bounce
        self.mode = isComplete ? mode : .forward
        self.isComplete = isComplete
        frameCount = isKnown ? durations.count : 1
        var end: Duration = .zero
        var ends: [Duration] = []
        for step in 0..<self.mode.stepCount(frames: frameCount) {
            end += min(durations[self.mode.frame(atStep: step, of: frameCount)], Self.longest)
            ends.append(end)
        }
        self.ends = ends
        self.loops = min(loops, Int.max / (ends.count * 2))
    }

    /// Whether the last frame of the last loop has had its time.
    var isOver: Bool { loops > 0 && loop >= loops }

    /// Whether it stands on the last frame that has arrived so far.
    var isHeld: Bool { !isComplete && step == ends.count - 1 }

    var tick: Int { isOver ? loops * ends.count - 1 : loop * ends.count + step }

    var frame: Int { frame(atTick: tick) }

    /// The number of remaining loops; nil for ever.
    var loopsRemaining: Int? { loops > 0 ? max(0, loops - loop) : nil }

    func frame(atTick tick: Int) -> Int {
        // A bounce ends where it began.
        if isOver, tick == self.tick, mode == .bounce || mode == .reverseBounce {
            return mode.frame(atStep: 0, of: frameCount)
        }
        return mode.frame(atStep: tick % ends.count, of: frameCount)
    }

    /// Advances by a span of the animation's own time. Cost: the logarithm of the number of frames.
    mutating func advance(by time: Duration) {
        guard time > .zero, !isOver else { return }
        position += min(time, Self.longest)
        guard isComplete else {
            position = min(position, start(of: ends.count - 1))
            return
        }
        guard position >= length else { return }
        let (passed, rest) = position.attoseconds.quotientAndRemainder(dividingBy: length.attoseconds)
        loop = Int(min(Int128(loop) + passed, Int128(maximumLoops)))
        position = Duration(attoseconds: rest)
        if isOver { (loop, position) = (loops, .zero) }
    }

    /// The animation's own time until the next change: the next frame, or the end. Nil if there is none.
    var untilNext: Duration? {
        if isOver || isHeld { return nil }
        if loops == 0, ends.count == 1 { return nil }
        return ends[step] - position
    }

    /// Moves to the first turn of a frame within a loop; both are clamped to the animation.
    mutating func seek(to frame: Int, loop: Int? = nil) {
        let frame = min(max(0, frame), frameCount - 1)
        let step = ends.indices.first { mode.frame(atStep: $0, of: frameCount) == frame } ?? 0
        self.loop = min(max(0, loop ?? self.loop), loops > 0 ? loops - 1 : maximumLoops)
        position = start(of: step)
    }

    /// The same animation at the very start.
    var rewound: Playback {
        var other = self
        (other.loop, other.position) = (0, .zero)
        return other
    }

    /// Whether both repeat the same frames for ever, so that one can take the other's position.
    func isInStep(with other: Playback) -> Bool {
        loops == 0 && isComplete && hasSameTimeline(as: other)
    }

    /// Whether a position in one is the same position in the other.
    func hasSameTimeline(as other: Playback) -> Bool {
        loops == other.loops && mode == other.mode && isComplete == other.isComplete && ends == other.ends
    }

    /// The number of steps of one loop.
    var stepCount: Int { ends.count }

    /// Returns the next frames, beginning with the current one, each once.
    func upcoming(_ count: Int) -> [Int] {
        var frames: [Int] = []
        let last = loops > 0 ? loops * ends.count - 1 : isComplete ? Int.max : (loop + 1) * ends.count - 1
        for tick in tick...min(last, tick + ends.count - 1) where frames.count < count {
            let frame = frame(atTick: tick)
            if !frames.contains(frame) { frames.append(frame) }
        }
        return frames
    }

    /// Returns the same position in an animation that has more frames by now, or is complete.
    func continued(as other: Playback) -> Playback {
        // A backward playback begins with the last frame, which had not arrived yet.
        guard isComplete || other.mode == .forward || other.mode == .bounce else { return other }
        var other = other
        other.loop = min(loop, other.loops > 0 ? other.loops : other.maximumLoops)
        other.position = other.isOver ? .zero : min(position, other.start(of: other.ends.count - 1))
        return other
    }

    /// About thirty years: no sum of frames or of loops overflows.
    private static let longest: Duration = .seconds(1_000_000_000)

    /// The greatest number of loops whose ticks can be counted.
    private var maximumLoops: Int { Int.max / (ends.count * 2) }

    private var length: Duration { ends[ends.count - 1] }

    private func start(of step: Int) -> Duration { step == 0 ? .zero : ends[step - 1] }

    /// The first step that ends after the position.
    private var step: Int {
        var (low, high) = (0, ends.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > position { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
