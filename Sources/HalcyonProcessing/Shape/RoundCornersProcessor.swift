import HalcyonImage
import HalcyonSystem

/// Cuts the corners of an image to circular arcs, with smooth edges.
///
/// Cost: a copy of the image, and the drawing of the corners.
public struct RoundCornersProcessor: ImageProcessor {
    public typealias Corners = HalcyonProcessing.Corners

    /// The radius of the corners; at most half of the shorter side is used.
    public var radius: CornerRadius
    /// The corners that are cut. All by default.
    public var corners: Corners
    /// The colour behind the image, also in the corners. Clear by default.
    public var background: Color
    /// The border along the inside of the edge. None by default.
    public var border: Border?
    /// The size in pixels that the image is scaled to fill, and cut to, before its corners are cut. The image's own
    /// by default.
    public var targetSize: PixelSize?

    public init(
        _ radius: CornerRadius, corners: Corners = .all, background: Color = .clear, border: Border? = nil,
        targetSize: PixelSize? = nil
    ) {
        self.radius = radius
        self.corners = corners
        self.background = background
        self.border = border
        self.targetSize = targetSize
    }

    /// - Parameter radius: The radius in pixels.
    public init(radius: Double, corners: Corners = .all) {
        self.init(.pixels(radius), corners: corners)
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.round-corners", version: 3)
        radius.encode(into: &key)
        key.encode(corners.rawValue)
        key.encode(background)
        key.encode(border)
        key.encode(targetSize != nil)
        if let targetSize { key.encode(targetSize) }
    }

    /// - Throws: `ProcessingError.invalidArgument` if a length is negative or not finite, a channel of a colour is
    ///   not finite, or a side of the target size is outside 1...65,535.
    public func validate() throws {
        try radius.validate(processor: "round")
        try background.validate(processor: "round")
        try border?.validate(processor: "round")
        try targetSize.map { try ResizeProcessor($0).validate() }
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        var image = image
        if let targetSize {
            image = try ResizeProcessor(targetSize, mode: .fill, upscale: true).process(image, context: context)
        }
        let radius = radius.pixels(in: image.size)
        let cuts = radius > 0 && !corners.isEmpty
        guard cuts || border != nil || (background.packed != 0 && !image.bitmap.isOpaque) else { return image }
        let painter = ShapePainter(
            image.size, radius: radius, corners: corners, border: border, background: background, clips: true)
        return image.replacing(try painter.painted(image.bitmap, context: context))
    }
}

extension ImageProcessor where Self == RoundCornersProcessor {
    /// Rounds the corners with a radius in pixels.
    public static func roundCorners(radius: Double, corners: Corners = .all) -> Self {
        RoundCornersProcessor(radius: radius, corners: corners)
    }

    /// Rounds the corners, optionally with a background, a border or a target size.
    public static func roundCorners(
        _ radius: CornerRadius, corners: Corners = .all, background: Color = .clear, border: Border? = nil,
        targetSize: PixelSize? = nil
    ) -> Self {
        RoundCornersProcessor(
            radius, corners: corners, background: background, border: border, targetSize: targetSize)
    }
}
