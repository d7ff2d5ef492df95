import HalcyonImage

/// Something that reads or writes image formats: what `CoderRegistry` keeps.
///
/// Adopt `ImageDecoder`, `ImageEncoder` or both. A coder is a value without state of its own: one instance serves any
/// number of threads at once.
public protocol ImageCoder: Sendable {
    /// The formats that it reads or writes.
    var formats: [ImageFormat] { get }
}
