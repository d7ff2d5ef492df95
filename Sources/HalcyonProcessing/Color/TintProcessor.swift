import HalcyonImage
import HalcyonSystem

/// Draws a colour onto an image.
public struct TintProcessor: ImageProcessor {
    /// The colour that is drawn; its alpha counts.
    package var color: Color
    /// The blend mode. `.sourceAtop` by default: over the image, and only within it. An opaque colour then makes a
    /// silhouette.
    package var mode: BlendMode

    /// Creates a processor that draws a colour, by default with `.sourceAtop`.
    package init(_ color: Color, mode: BlendMode = .sourceAtop) {
        self.color = color
        self.mode = mode
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.tint", version: 1)
        key.encode(color)
        key.encode(mode.rawValue)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if a channel of the colour is not finite.
    public func validate() throws(ProcessingError) { try color.validate(processor: "tint") }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        let layers = Layers(
            size: image.size, destination: .bitmap(image.bitmap, alpha: 1), source: .color(color), mode: mode,
            processor: "tint")
        return image.replacing(try layers.drawn(context: context))
    }
}

extension ImageProcessor where Self == TintProcessor {
    /// Draws a colour onto the image.
    public static func tint(_ color: Color, mode: BlendMode = .sourceAtop) -> Self { TintProcessor(color, mode: mode) }
}
