import HalcyonImage

/// A reader or writer of image formats, which is registered in `CoderRegistry`.
///
/// Adopt `ImageDecoder`, `ImageEncoder` or both. A coder is a value without mutable state: one instance serves any
/// number of threads at once.
public protocol ImageCoder: Sendable {
    /// The formats that it reads or writes.
    var formats: [ImageFormat] { get }
}
