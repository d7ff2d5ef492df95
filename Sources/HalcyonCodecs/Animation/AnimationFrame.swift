import HalcyonImage

/// Where and how a stored frame is drawn onto those before it.
public struct AnimationFrame: Hashable, Sendable {
    /// What happens to the canvas once the frame has been shown.
    public enum Disposal: Hashable, Sendable {
        case keep
        /// The frame's rectangle becomes transparent.
        case clear
        /// The canvas is again what it was before the frame.
        case restore
    }

    /// How the frame's pixels meet the canvas.
    public enum Blend: Hashable, Sendable {
        case over
        /// They replace it, their alpha included.
        case replace
    }

    /// On the canvas, in stored orientation; lies inside of it.
    public var rect: PixelRect
    /// As the file says.
    public var duration: Duration
    public var disposal: Disposal
    public var blend: Blend

    public init(rect: PixelRect, duration: Duration, disposal: Disposal = .keep, blend: Blend = .over) {
        self.rect = rect
        self.duration = duration
        self.disposal = disposal
        self.blend = blend
    }
}
