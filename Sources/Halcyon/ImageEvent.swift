/// What happens to a load, in order.
public enum ImageEvent: Sendable {
    /// Bytes arrived. Any number of times.
    case progress(LoadProgress)
    /// An image to show until the final one comes: part of it, or a stale one. Any number of times, and never cached.
    case preview(Image)
    /// The end. Once, and last.
    case finished(ImageResponse)
}
