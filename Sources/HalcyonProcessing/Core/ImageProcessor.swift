import HalcyonImage
import HalcyonSystem

/// A step that turns an image into another image.
///
/// A processor is a value: two that are equal give the same output for the same input, in every process. Its
/// parameters go into `encode(into:)`, which names its results on disk.
///
///     struct Invert: ImageProcessor {
///         func encode(into key: inout KeyEncoder) { key.encode(type: "org.example.invert", version: 1) }
///         func process(_ image: Image, context: WorkContext) throws -> Image { ... }
///     }
public protocol ImageProcessor: Hashable, Sendable {
    /// Whether each frame of an animation is processed by itself, on demand, with durations and loops kept. True by
    /// default: then `process` receives one frame at a time, and all results must have the same size. If false, the
    /// processor receives the image with its animation and handles both; a result of `Image.replacing` is a still.
    var appliesPerFrame: Bool { get }

    /// Writes the type's identifier, its version, then every parameter in a fixed order.
    func encode(into key: inout KeyEncoder)

    /// Throws if the parameters suit no image, such as a width of zero. Called before anything is fetched; accepts
    /// all parameters by default.
    func validate() throws

    /// Makes the new image; for an animation, from its first frame. `Image.processed(by:)` processes all frames. Runs
    /// on one of Halcyon's own threads, so it may take its time; check `context` for cancellation every few rows.
    ///
    /// - Throws: Any error that describes the problem: the load fails with it, and nothing is stored.
    func process(_ image: Image, context: WorkContext) throws -> Image
}

extension ImageProcessor {
    public var appliesPerFrame: Bool { true }

    public func validate() throws {}

    /// Compares two processors of any types, for lists of processors.
    package func isEqual(to other: any ImageProcessor) -> Bool {
        guard let other = other as? Self else { return false }
        if self == other { return true }
        // A parameter that is NaN makes a value unequal to itself, and its jobs could never be found again.
        guard self != self else { return false }
        var (left, right) = (KeyEncoder(), KeyEncoder())
        encode(into: &left)
        other.encode(into: &right)
        return left.bytes == right.bytes
    }
}
