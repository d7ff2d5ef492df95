/// In which order an animation's frames play.
public enum PlaybackMode: Hashable, Sendable, CaseIterable {
    /// First to last.
    case forward
    /// Last to first.
    case reverse
    /// First to last and back; the first and the last frame stand once in each turn.
    case bounce
    /// Last to first and back.
    case reverseBounce

    /// Steps of one loop.
    func stepCount(frames: Int) -> Int {
        switch self {
        case .forward, .reverse: frames
        case .bounce, .reverseBounce: max(1, 2 * frames - 2)
        }
    }

    func frame(atStep step: Int, of frames: Int) -> Int {
        switch self {
        case .forward: step
        case .reverse: frames - 1 - step
        case .bounce: step < frames ? step : 2 * frames - 2 - step
        case .reverseBounce: frames - 1 - Self.bounce.frame(atStep: step, of: frames)
        }
    }
}
