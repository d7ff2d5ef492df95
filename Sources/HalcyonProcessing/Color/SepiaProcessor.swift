import HalcyonImage
import HalcyonSystem

/// Gives an image the brown of an old photograph, by the matrix of the W3C's Filter Effects.
public struct SepiaProcessor: ImageProcessor {
    /// The strength, from 0, which changes nothing, to 1, the default.
    package var intensity: Double

    /// Creates a processor with a strength from 0 to 1, the default.
    package init(intensity: Double = 1) {
        self.intensity = intensity
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.sepia", version: 1)
        key.encode(intensity)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if the intensity is not in 0...1.
    public func validate() throws(ProcessingError) { try Fraction.validate(intensity, processor: "sepia") }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        let rest = 1 - intensity
        let matrix = ColorMatrix(
            red: .init(0.393 + 0.607 * rest, 0.769 - 0.769 * rest, 0.189 - 0.189 * rest),
            green: .init(0.349 - 0.349 * rest, 0.686 + 0.314 * rest, 0.168 - 0.168 * rest),
            blue: .init(0.272 - 0.272 * rest, 0.534 - 0.534 * rest, 0.131 + 0.869 * rest))
        return try matrix.applied(to: image, processor: "sepia", context: context)
    }
}

extension ImageProcessor where Self == SepiaProcessor {
    /// Gives the brown of an old photograph; an intensity of 1 is the full effect.
    public static func sepia(intensity: Double = 1) -> Self { SepiaProcessor(intensity: intensity) }
}
