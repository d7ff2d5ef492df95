import HalcyonImage
import HalcyonSystem

/// Lays a colour over an image, where the image is.
public struct OverlayProcessor: ImageProcessor {
    /// Its alpha lets more of the image through.
    public var color: Color
    /// How much of the image is left: 0 is the colour alone, 1 the image. 0.5 by default.
    public var fraction: Double

    public init(_ color: Color, fraction: Double = 0.5) {
        self.color = color
        self.fraction = fraction
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.overlay", version: 1)
        key.encode(color)
        key.encode(fraction)
    }

    /// - Throws: `ProcessingError.invalidArgument` where the colour is no number or the fraction is not in 0...1.
    public func validate() throws {
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
