import HalcyonImage
import HalcyonSystem

/// Makes an image more transparent.
public struct OpacityProcessor: ImageProcessor {
    /// The factor that alpha is multiplied with: 0 is clear, 1 changes nothing.
    package var opacity: Double

    /// Creates a processor that multiplies alpha with a value from 0 to 1.
    package init(_ opacity: Double) {
        self.opacity = opacity
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.opacity", version: 1)
        key.encode(opacity)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if the opacity is not in 0...1.
    public func validate() throws(ProcessingError) { try Fraction.validate(opacity, processor: "opacity") }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        var matrix = ColorMatrix.identity
        matrix.alpha.alpha = opacity
        return try matrix.applied(to: image, processor: "opacity", context: context)
    }
}

extension ImageProcessor where Self == OpacityProcessor {
    /// Multiplies alpha with a value from 0 to 1.
    public static func opacity(_ opacity: Double) -> Self { OpacityProcessor(opacity) }
}
