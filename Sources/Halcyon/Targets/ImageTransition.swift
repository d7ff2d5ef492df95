/// How an image takes the place of what a view shows before it.
///
///     imageView.setImage(from: url, transition: .fade())
///
/// An image that was in memory is there at once, without a transition.
public struct ImageTransition: Sendable {
    /// The way from one image to the next.
    public enum Style: Sendable {
        case crossFade
        /// The old image turns away and the new one to the front, over the side that is named.
        case flip(from: Edge)
        /// The new image moves in from a side.
        case slide(from: Edge)
        /// A program's own.
        case custom(any ImageTransitionAnimator)
    }

    /// A side of the view.
    public enum Edge: Sendable, Hashable, CaseIterable {
        case left, right, top, bottom
    }

    public var style: Style
    /// Half a second by default, as long as the peers take.
    public var duration: Duration
    /// Whether it is seen, by where the image was: by default everywhere but in memory, from where an image comes at once.
    public var origins: Set<ImageOrigin>

    public init(
        _ style: Style, duration: Duration = .milliseconds(500),
        origins: Set<ImageOrigin> = Set(ImageOrigin.allCases).subtracting([.memory])
    ) {
        self.style = style
        self.duration = duration
        self.origins = origins
    }

    public static func fade(_ duration: Duration = .milliseconds(500)) -> Self { Self(.crossFade, duration: duration) }

    public static func flip(from edge: Edge, _ duration: Duration = .milliseconds(500)) -> Self {
        Self(.flip(from: edge), duration: duration)
    }

    public static func slide(from edge: Edge, _ duration: Duration = .milliseconds(500)) -> Self {
        Self(.slide(from: edge), duration: duration)
    }

    /// The same, seen wherever the image was, in memory too.
    public var forced: Self {
        var transition = self
        transition.origins = Set(ImageOrigin.allCases)
        return transition
    }
}

/// A program's own transition.
@MainActor
public protocol ImageTransitionAnimator: AnyObject, Sendable {
    /// Before the first step; `surface` is the view that shows the new image by now.
    func prepare(_ surface: AnyObject)
    /// - Parameter progress: 0 to 1, once for each frame of the screen, in time.
    func animate(_ surface: AnyObject, progress: Double)
    /// After the last step, and where the transition was cut short.
    func complete(_ surface: AnyObject)
}
