/// What happens to a load, in order.
public enum ImageEvent: Sendable {
    /// Bytes arrived. Any number of times.
    case progress(LoadProgress)
    /// What to show until the image comes: part of it, or a stale one. Any number of times, and never cached.
    case preview(ImagePreview)
    /// The end. Once, and last.
    case finished(ImageResponse)
}
