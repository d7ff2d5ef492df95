import Halcyon

/// An `ImageView` with the playback settings of an animation as properties.
///
///     let view = AnimatedImageView()
///     view.repeatCount = .once
///     view.setImage(from: url)
///
/// Any `ImageView` plays animations. These properties take effect with the next image.
@MainActor public final class AnimatedImageView: ImageView {
    /// The number of loops; the file's own by default.
    public var repeatCount: RepeatCount {
        get { playback.repeatCount }
        set { playback.repeatCount = newValue }
    }

    /// The number of frames that are decoded before they are due, within the budget of the process; 10 by default.
    public var framePreloadCount: Int {
        get { playback.framePreloadCount }
        set { playback.framePreloadCount = newValue }
    }

    /// Whether frames are decoded on Halcyon's own threads; true by default. If false, they are decoded on GTK's thread.
    public var backgroundDecode: Bool {
        get { playback.backgroundDecode }
        set { playback.backgroundDecode = newValue }
    }

    /// The processor that is applied to each decoded frame; nil by default.
    public var transformer: (any ImageProcessor)? {
        get { playback.transformer }
        set { playback.transformer = newValue }
    }
}
