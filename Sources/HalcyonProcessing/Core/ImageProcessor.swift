import HalcyonImage
import HalcyonSystem

/// A step that turns an image into another image.
///
/// A processor is a value: two that are equal give the same output for the same input, in every process. What it is
/// made of goes into `encode(into:)`, which names its results on disk.
///
///     struct Invert: ImageProcessor {
///         func encode(into key: inout KeyEncoder) { key.encode(type: "org.example.invert", version: 1) }
///         func process(_ image: Image, context: WorkContext) throws -> Image { ... }
///     }
public protocol ImageProcessor: Hashable, Sendable {
    /// Whether each frame of an animation is processed by itself, when it is asked for, with durations and loops kept.
    /// True by default: then `process` sees one frame at a time, and frames must all come out at one size. False leaves the
    /// animation to the processor, which is given it with the image; a result of `Image.replacing` is a still.
    var appliesPerFrame: Bool { get }

    /// Writes the type's identifier, its version, then every parameter in a fixed order.
    func encode(into key: inout KeyEncoder)

    /// Throws where the parameters suit no image, such as a width of zero. Asked before anything is fetched; accepts all by
    /// default.
    func validate() throws

    /// Makes the new image; of an animation, its first frame. `Image.processed(by:)` does all of them. Runs on one of Halcyon's own threads, so it may take its time; ask `context` every few rows
    /// whether anybody still waits.
    ///
    /// - Throws: whatever says what was wrong: the load ends with it, and nothing is stored.
    func process(_ image: Image, context: WorkContext) throws -> Image
}

extension ImageProcessor {
    public var appliesPerFrame: Bool { true }

    public func validate() throws {}

    /// Equality across types, for lists of processors.
    package func isEqual(to other: any ImageProcessor) -> Bool {
        guard let other = other as? Self else { return false }
        if self == other { return true }
        // A parameter that is no number makes a value unequal to itself, and its jobs could never be found again.
        guard self != self else { return false }
        var (left, right) = (KeyEncoder(), KeyEncoder())
        encode(into: &left)
        other.encode(into: &right)
        return left.bytes == right.bytes
    }
}
