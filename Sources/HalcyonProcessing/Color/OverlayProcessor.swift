import HalcyonImage
import HalcyonSystem

/// Lays a colour over an image, within the image's own alpha.
public struct OverlayProcessor: ImageProcessor {
    /// The colour. A lower alpha lets more of the image through.
    package var color: Color
    /// The share of the image that is left: 0 gives the colour alone, 1 the image. 0.5 by default.
    package var fraction: Double

    /// Creates a processor that leaves `fraction`, by default 0.5, of the image below a colour.
    package init(_ color: Color, fraction: Double = 0.5) {
        self.color = color
        self.fraction = fraction
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.overlay", version: 1)
        key.encode(color)
        key.encode(fraction)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if a channel of the colour is not finite or the fraction is not in
    ///   0...1.
    public func validate() throws(ProcessingError) {
        try color.validate(processor: "overlay")
        try Fraction.validate(fraction, processor: "overlay")
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        let color = color.clamped
        let share = (1 - fraction) * color.alpha
        let kept = 1 - share
        let matrix = ColorMatrix(
            red: .init(kept, 0, 0, bias: color.red * share), green: .init(0, kept, 0, bias: color.green * share),
            blue: .init(0, 0, kept, bias: color.blue * share))
        return try matrix.applied(to: image, processor: "overlay", context: context)
    }
}

extension ImageProcessor where Self == OverlayProcessor {
    /// Lays a colour over the image; `fraction` of the image is left.
    public static func overlay(_ color: Color, fraction: Double = 0.5) -> Self {
        OverlayProcessor(color, fraction: fraction)
    }
}
