import HalcyonImage
import HalcyonSystem

/// Cuts the largest circle out of the middle of an image.
public struct CircleProcessor: ImageProcessor {
    /// The border along the inside of the circle. None by default.
    package var border: ImageBorder?
    /// The colour behind the image and around the circle. Clear by default.
    package var background: Color

    /// Creates a processor; omitted arguments take the defaults that the properties state.
    package init(border: ImageBorder? = nil, background: Color = .clear) {
        self.border = border
        self.background = background
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.circle", version: 1)
        key.encode(border)
        key.encode(background)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if the border's width is negative or not finite, or a channel of a
    ///   colour is not finite.
    public func validate() throws(ProcessingError) {
        try border?.validate(processor: "circle")
        try background.validate(processor: "circle")
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        let side = min(image.width, image.height)
        let square = try CropProcessor.crop(to: PixelSize(side, side)).process(image, context: context)
        let painter = ShapePainter(
            square.size, radius: Double(side) / 2, corners: .all, border: border, background: background)
        return square.replacing(try painter.painted(square.bitmap, context: context))
    }
}

extension ImageProcessor where Self == CircleProcessor {
    /// Cuts the largest circle out of the middle.
    public static func circle(border: ImageBorder? = nil, background: Color = .clear) -> Self {
        CircleProcessor(border: border, background: background)
    }
}
