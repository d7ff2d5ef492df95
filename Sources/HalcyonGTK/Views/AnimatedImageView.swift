import Halcyon

/// An `ImageView` with the controls of an animation at hand.
///
///     let view = AnimatedImageView()
///     view.repeatCount = .once
///     view.setImage(from: url)
///
/// Any `ImageView` plays animations. What is set here counts for the next image.
@MainActor public final class AnimatedImageView: ImageView {
    /// As the file says, by default.
    public var repeatCount: RepeatCount {
        get { playback.repeatCount }
        set { playback.repeatCount = newValue }
    }

    /// Frames that are decoded before they are due, within the budget of the process; 10 by default.
    public var framePreloadCount: Int {
        get { playback.framePreloadCount }
        set { playback.framePreloadCount = newValue }
    }

    /// Whether frames are decoded on Halcyon's own threads; true by default. False takes GTK's for it.
    public var backgroundDecode: Bool {
        get { playback.backgroundDecode }
        set { playback.backgroundDecode = newValue }
    }

    /// Changes each frame after it was decoded; nil by default.
    public var transformer: (any ImageProcessor)? {
        get { playback.transformer }
        set { playback.transformer = newValue }
    }
}
