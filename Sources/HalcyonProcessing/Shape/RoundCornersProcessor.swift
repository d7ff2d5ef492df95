import HalcyonImage
import HalcyonSystem

/// Cuts the corners of an image to circular arcs, with smooth edges.
///
/// Cost: a copy of the image, and the drawing of the corners.
public struct RoundCornersProcessor: ImageProcessor {
    /// The radius of the corners; at most half of the shorter side is used.
    package var radius: CornerRadius
    /// The corners that are cut. All by default.
    package var corners: RectCorner
    /// The colour behind the image, also in the corners. Clear by default.
    package var background: Color
    /// The border along the inside of the edge. None by default.
    package var border: ImageBorder?
    /// The size in pixels that the image is scaled to fill, and cut to, before its corners are cut. The image's own
    /// by default.
    package var targetSize: PixelSize?

    /// Creates a processor; omitted arguments take the defaults that the properties state.
    package init(
        _ radius: CornerRadius, corners: RectCorner = .all, background: Color = .clear, border: ImageBorder? = nil,
        targetSize: PixelSize? = nil
    ) {
        self.radius = radius
        self.corners = corners
        self.background = background
        self.border = border
        self.targetSize = targetSize
    }

    /// Creates a processor for a radius in pixels, by default for all corners.
    package init(radius: Double, corners: RectCorner = .all) {
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

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if a length is negative or not finite, a channel of a colour is
    ///   not finite, or a side of the target size is outside 1...65,535.
    public func validate() throws(ProcessingError) {
        try radius.validate(processor: "round")
        try background.validate(processor: "round")
        try border?.validate(processor: "round")
        if let targetSize { try ResizeProcessor(targetSize).validate() }
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
    public static func roundCorners(radius: Double, corners: RectCorner = .all) -> Self {
        RoundCornersProcessor(radius: radius, corners: corners)
    }

    /// Rounds the corners, optionally with a background, a border or a target size.
    public static func roundCorners(
        _ radius: CornerRadius, corners: RectCorner = .all, background: Color = .clear, border: ImageBorder? = nil,
        targetSize: PixelSize? = nil
    ) -> Self {
        RoundCornersProcessor(
            radius, corners: corners, background: background, border: border, targetSize: targetSize)
    }
}

/// The radius of a corner's arc.
public enum CornerRadius: Hashable, Sendable {
    /// A number of pixels.
    case pixels(Double)
    /// A fraction of the image's width: 0.5 makes half circles of a square's sides.
    case widthFraction(Double)
    /// A fraction of the image's height.
    case heightFraction(Double)

    /// - Throws: `ProcessingError.invalidArgument` if the value is negative or not finite.
    func validate(processor: String) throws(ProcessingError) {
        let value: Double =
            switch self {
            case .pixels(let value), .widthFraction(let value), .heightFraction(let value): value
            }
        guard value.isFinite, value >= 0 else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "a radius of \(value)")
        }
    }

    /// Returns the radius in pixels for an image of this size, at most half of the shorter side.
    func pixels(in size: PixelSize) -> Double {
        let half = Double(min(size.width, size.height)) / 2
        return switch self {
        case .pixels(let pixels): min(pixels, half)
        case .widthFraction(let fraction): min(fraction * Double(size.width), half)
        case .heightFraction(let fraction): min(fraction * Double(size.height), half)
        }
    }

    func encode(into key: inout KeyEncoder) {
        switch self {
        case .pixels(let value):
            key.encode(0)
            key.encode(value)
        case .widthFraction(let value):
            key.encode(1)
            key.encode(value)
        case .heightFraction(let value):
            key.encode(2)
            key.encode(value)
        }
    }
}

/// A set of an image's corners.
public struct RectCorner: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The top left corner.
    public static let topLeft = RectCorner(rawValue: 1)
    /// The top right corner.
    public static let topRight = RectCorner(rawValue: 2)
    /// The bottom right corner.
    public static let bottomRight = RectCorner(rawValue: 4)
    /// The bottom left corner.
    public static let bottomLeft = RectCorner(rawValue: 8)
    /// All four corners.
    public static let all: RectCorner = [.topLeft, .topRight, .bottomRight, .bottomLeft]
}
