import HalcyonImage
import HalcyonSystem

/// Draws a line along the inside of an image's edge. The image outside of round corners stays;
/// `RoundCornersProcessor` cuts it off.
public struct BorderProcessor: ImageProcessor {
    /// The width and the colour of the line. 4 pixels and black by default.
    package var border: ImageBorder
    /// The radius of the line's outer edge; at most half of the shorter side is used. 0 by default.
    package var radius: CornerRadius
    /// The corners that are round. All by default.
    package var corners: RectCorner

    /// Creates a processor; omitted arguments take the defaults that the properties state.
    package init(_ border: ImageBorder = ImageBorder(), radius: CornerRadius = .pixels(0), corners: RectCorner = .all) {
        self.border = border
        self.radius = radius
        self.corners = corners
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.border", version: 1)
        border.encode(into: &key)
        radius.encode(into: &key)
        key.encode(corners.rawValue)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if a length is negative or not finite, or a channel of the colour
    ///   is not finite.
    public func validate() throws(ProcessingError) {
        try border.validate(processor: "border")
        try radius.validate(processor: "border")
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        guard border.width > 0, border.color.packed != 0 else { return image }
        let painter = ShapePainter(
            image.size, radius: radius.pixels(in: image.size), corners: corners, border: border, background: .clear,
            clips: false)
        return image.replacing(try painter.painted(image.bitmap, context: context))
    }
}

extension ImageProcessor where Self == BorderProcessor {
    /// Draws a line along the inside of the edge, `width` pixels wide.
    public static func border(
        width: Double = 4, color: Color = .black, radius: CornerRadius = .pixels(0), corners: RectCorner = .all
    ) -> Self {
        BorderProcessor(ImageBorder(width: width, color: color), radius: radius, corners: corners)
    }
}

/// A line along the inside of a shape's edge.
public struct ImageBorder: Hashable, Sendable {
    /// The width in pixels. 4 by default.
    public var width: Double
    /// The colour. Black by default.
    public var color: Color

    /// Creates a border; omitted arguments take the defaults that the properties state.
    public init(width: Double = 4, color: Color = .black) {
        self.width = width
        self.color = color
    }

    /// - Throws: `ProcessingError.invalidArgument` if the width is negative or not finite, or a channel of the colour
    ///   is not finite.
    func validate(processor: String) throws(ProcessingError) {
        guard width.isFinite, width >= 0 else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "a border of \(width) pixels")
        }
        try color.validate(processor: processor)
    }

    func encode(into key: inout KeyEncoder) {
        key.encode(width)
        key.encode(color)
    }
}

extension KeyEncoder {
    mutating func encode(_ border: ImageBorder?) {
        encode(border != nil)
        border?.encode(into: &self)
    }
}
