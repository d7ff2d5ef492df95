/// The transition from the content that a view shows to an image.
///
///     imageView.setImage(from: url, transition: .fade())
///
/// An image that was in memory is shown at once, without a transition.
public struct ImageTransition: Sendable {
    /// The way from one image to the next.
    public enum Style: Sendable {
        /// The old image fades into the new one.
        case crossFade
        /// The old image turns away and the new one turns to the front, over the given side.
        case flip(from: Edge)
        /// The new image moves in from a side.
        case slide(from: Edge)
        /// A transition of the program's own.
        case custom(any ImageTransitionAnimator)
    }

    /// A side of the view.
    public enum Edge: Sendable, Hashable, CaseIterable {
        /// The left edge, whatever the direction of the text.
        case left
        /// The right edge, whatever the direction of the text.
        case right
        /// The top edge.
        case top
        /// The bottom edge.
        case bottom
    }

    /// The way from one image to the next.
    public var style: Style
    /// The duration, half a second by default, the same as in comparable libraries.
    public var duration: Duration
    /// The origins for which the transition is shown: by default all but memory, from which an image is shown at once.
    public var origins: Set<ImageOrigin>

    /// Creates a transition; omitted arguments take the defaults that the properties state.
    public init(
        _ style: Style, duration: Duration = .milliseconds(500),
        origins: Set<ImageOrigin> = Set(ImageOrigin.allCases).subtracting([.memory])
    ) {
        self.style = style
        self.duration = duration
        self.origins = origins
    }

    /// Returns a cross-fade.
    public static func fade(_ duration: Duration = .milliseconds(500)) -> Self { Self(.crossFade, duration: duration) }

    /// Returns a transition in which the view turns over.
    public static func flip(from edge: Edge, _ duration: Duration = .milliseconds(500)) -> Self {
        Self(.flip(from: edge), duration: duration)
    }

    /// Returns a transition in which the new image moves in.
    public static func slide(from edge: Edge, _ duration: Duration = .milliseconds(500)) -> Self {
        Self(.slide(from: edge), duration: duration)
    }

    /// The same transition, shown for every origin, including memory.
    public var forced: Self {
        var transition = self
        transition.origins = Set(ImageOrigin.allCases)
        return transition
    }
}

/// An animator for a transition of the program's own.
@MainActor
public protocol ImageTransitionAnimator: AnyObject, Sendable {
    /// Called before the first step; `surface` is the view, which already shows the new image.
    func prepare(_ surface: AnyObject)
    /// Called once for each frame of the screen.
    ///
    /// - Parameter progress: from 0 to 1, in proportion to the elapsed time.
    func animate(_ surface: AnyObject, progress: Double)
    /// Called after the last step, and if the transition was interrupted.
    func complete(_ surface: AnyObject)
}
