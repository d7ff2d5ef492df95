/// Where an animation stands in its own time: arithmetic alone, without a clock and without frames.
///
/// A *step* is one frame's turn within a loop, a *tick* a step counted from the very start.
struct Playback: Sendable {
    let mode: PlaybackMode
    /// 0 is for ever.
    let loops: Int
    let frameCount: Int
    /// False while frames are still arriving: then the last known one stands until there are more.
    let isComplete: Bool
    /// When each step of a loop ends, counted from the loop's start.
    private let ends: [Duration]

    /// Loops that are over.
    private(set) var loop = 0
    /// Within the loop.
    private var position: Duration = .zero

    init(durations: [Duration], mode: PlaybackMode = .forward, loops: Int = 0, isComplete: Bool = true) {
        // What comes last is not known yet: only the order of the frames themselves can be begun.
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

    /// The last frame of the last loop has had its time.
    var isOver: Bool { loops > 0 && loop >= loops }

    /// It stands on the last frame that there is so far.
    var isHeld: Bool { !isComplete && step == ends.count - 1 }

    var tick: Int { isOver ? loops * ends.count - 1 : loop * ends.count + step }

    var frame: Int { frame(atTick: tick) }

    /// How many loops there are yet to come; nil for ever.
    var loopsRemaining: Int? { loops > 0 ? max(0, loops - loop) : nil }

    func frame(atTick tick: Int) -> Int {
        // A turn there and back ends where it began.
        if isOver, tick == self.tick, mode == .bounce || mode == .reverseBounce {
            return mode.frame(atStep: 0, of: frameCount)
        }
        return mode.frame(atStep: tick % ends.count, of: frameCount)
    }

    /// Goes on by so much of the animation's own time. Cost: the logarithm of the number of frames.
    mutating func advance(by time: Duration) {
        guard time > .zero, !isOver else { return }
        position += min(time, Self.longest)
        guard isComplete else {
            position = min(position, start(of: ends.count - 1))
            return
        }
        guard position >= length else { return }
        let (passed, rest) = position.attoseconds.quotientAndRemainder(dividingBy: length.attoseconds)
        loop = Int(min(Int128(loop) + passed, Int128(mostLoops)))
        position = Duration(attoseconds: rest)
        if isOver { (loop, position) = (loops, .zero) }
    }

    /// The animation's own time until something changes: the next frame, or the end. Nil where nothing will.
    var untilNext: Duration? {
        if isOver || isHeld { return nil }
        if loops == 0, ends.count == 1 { return nil }
        return ends[step] - position
    }

    /// To the first turn of a frame within a loop, both clamped to what there is.
    mutating func seek(to frame: Int, loop: Int? = nil) {
        let frame = min(max(0, frame), frameCount - 1)
        let step = ends.indices.first { mode.frame(atStep: $0, of: frameCount) == frame } ?? 0
        self.loop = min(max(0, loop ?? self.loop), loops > 0 ? loops - 1 : mostLoops)
        position = start(of: step)
    }

    /// The same from the very start.
    var rewound: Playback {
        var other = self
        (other.loop, other.position) = (0, .zero)
        return other
    }

    /// Whether both go round and round through the same frames, so that one may take the other's place.
    func isInStep(with other: Playback) -> Bool {
        loops == 0 && isComplete && isSameCourse(as: other)
    }

    /// Whether a place in one is the same place in the other.
    func isSameCourse(as other: Playback) -> Bool {
        loops == other.loops && mode == other.mode && isComplete == other.isComplete && ends == other.ends
    }

    /// Steps of one loop.
    var stepCount: Int { ends.count }

    /// The frames that come next, beginning with this one, each once.
    func upcoming(_ count: Int) -> [Int] {
        var frames: [Int] = []
        let last = loops > 0 ? loops * ends.count - 1 : isComplete ? Int.max : (loop + 1) * ends.count - 1
        for tick in tick...min(last, tick + ends.count - 1) where frames.count < count {
            let frame = frame(atTick: tick)
            if !frames.contains(frame) { frames.append(frame) }
        }
        return frames
    }

    /// The same place in an animation that has more frames by now, or is there as a whole.
    func continued(as other: Playback) -> Playback {
        // Backwards begins with the last frame, which was not there yet.
        guard isComplete || other.mode == .forward || other.mode == .bounce else { return other }
        var other = other
        other.loop = min(loop, other.loops > 0 ? other.loops : other.mostLoops)
        other.position = other.isOver ? .zero : min(position, other.start(of: other.ends.count - 1))
        return other
    }

    /// Thirty years: no sum of frames or of loops overflows.
    private static let longest: Duration = .seconds(1_000_000_000)

    /// So many that a tick can be counted.
    private var mostLoops: Int { Int.max / (ends.count * 2) }

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
