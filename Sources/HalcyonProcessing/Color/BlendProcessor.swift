import HalcyonImage
import HalcyonSystem

/// Draws an image onto a background of one colour.
public struct BlendProcessor: ImageProcessor {
    /// The blend mode. `.over` by default.
    package var mode: BlendMode
    /// The factor that the image's alpha is multiplied with first, 0 to 1. 1 by default.
    package var alpha: Double
    /// The background colour. Clear by default.
    package var background: Color

    /// Creates a processor; omitted arguments take the defaults that the properties state.
    package init(_ mode: BlendMode = .over, alpha: Double = 1, background: Color = .clear) {
        self.mode = mode
        self.alpha = alpha
        self.background = background
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.blend", version: 1)
        key.encode(mode.rawValue)
        key.encode(alpha)
        key.encode(background)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if alpha is not in 0...1 or the colour has a channel that is not
    ///   finite.
    public func validate() throws(ProcessingError) {
        try Fraction.validate(alpha, processor: "blend")
        try background.validate(processor: "blend")
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        let layers = Layers(
            size: image.size, destination: .color(background), source: .bitmap(image.bitmap, alpha: alpha),
            mode: mode, processor: "blend")
        return image.replacing(try layers.drawn(context: context))
    }
}

extension ImageProcessor where Self == BlendProcessor {
    /// Draws the image onto a background of one colour.
    public static func blend(_ mode: BlendMode = .over, alpha: Double = 1, background: Color = .clear) -> Self {
        BlendProcessor(mode, alpha: alpha, background: background)
    }
}
