import HalcyonImage
import HalcyonSystem

/// Scales an image to a box of pixels.
///
/// As the first step of a request it is part of the decode: a JPEG or WebP is then decoded at about that size, which is
/// several times faster than in full. In linear light it is decoded in full, since their own reductions are not.
public struct ResizeProcessor: GeometricProcessor {
    /// The longest side of a box, in pixels.
    package static let maximumSide = 65_535

    /// The box in pixels.
    package var size: PixelSize
    /// The way in which the image is fitted to the box. `.fit` by default.
    package var mode: ResizeMode
    /// Whether the result may be larger than the source.
    package var upscale: Bool
    /// The filter that computes the pixels. `.lanczos` by default.
    package var filter: ResizeFilter
    /// The light in which the pixels are averaged. `.encoded` by default. It has no effect on `.nearest`.
    package var light: ResizeLight

    /// Creates a processor for a box in pixels; omitted arguments take the defaults that the properties state.
    package init(
        _ size: PixelSize, mode: ResizeMode = .fit, upscale: Bool = false, filter: ResizeFilter = .lanczos,
        light: ResizeLight = .encoded
    ) {
        self.size = size
        self.mode = mode
        self.upscale = upscale
        self.filter = filter
        self.light = light
    }

    public func encode(into key: inout KeyEncoder) {
        // Images that were stored before there was a choice keep their names.
        key.encode(type: "halcyon.resize", version: light == .encoded ? 1 : 2)
        key.encode(size)
        key.encode(mode.rawValue)
        key.encode(upscale)
        key.encode(filter.rawValue)
        if light != .encoded { key.encode(light.rawValue) }
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if a side is below 1 or above `maximumSide`.
    public func validate() throws(ProcessingError) {
        guard (1...Self.maximumSide).contains(size.width), (1...Self.maximumSide).contains(size.height) else {
            throw ProcessingError.invalidArgument(
                processor: "resize", reason: "a box of \(size) pixels; sides are 1 to \(Self.maximumSide)")
        }
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try processGeometry(image, context: context)
    }

    /// The geometry step. `nearest` is not combined with others: its choice between two equally near pixels depends
    /// on the side that it comes from, so a turn or a cut would change it.
    var geometryStep: GeometryStep? { filter == .nearest ? nil : .scaling }

    func add(to plan: inout GeometryPlan) throws {
        try validate()
        let geometry = ResizeGeometry(source: plan.size, box: size, mode: mode, upscale: upscale)
        try ResultLimit.check(geometry.size, processor: "resize")
        plan.scale(geometry, filter: filter, light: light)
    }
}

extension ImageProcessor where Self == ResizeProcessor {
    /// Scales to a box of pixels; never larger than the source unless `upscale`.
    ///
    /// - Parameter light: the light in which the pixels are averaged. Take `.linear` where fine details have strong contrasts:
    ///   line art, foliage against the sky, lights at night. A JPEG or WebP is then decoded in full.
    public static func resize(
        to size: PixelSize, mode: ResizeMode = .fit, upscale: Bool = false, filter: ResizeFilter = .lanczos,
        light: ResizeLight = .encoded
    ) -> Self {
        ResizeProcessor(size, mode: mode, upscale: upscale, filter: filter, light: light)
    }

    /// Scales to a width in pixels and keeps the aspect ratio; never larger than the source unless `upscale`.
    ///
    /// The height follows, up to 65,535 pixels, the longest side of a box.
    public static func resize(
        width: Int, upscale: Bool = false, filter: ResizeFilter = .lanczos, light: ResizeLight = .encoded
    ) -> Self {
        ResizeProcessor(PixelSize(width, Self.maximumSide), upscale: upscale, filter: filter, light: light)
    }

    /// Scales to a height in pixels and keeps the aspect ratio; never larger than the source unless `upscale`.
    ///
    /// The width follows, up to 65,535 pixels, the longest side of a box.
    public static func resize(
        height: Int, upscale: Bool = false, filter: ResizeFilter = .lanczos, light: ResizeLight = .encoded
    ) -> Self {
        ResizeProcessor(PixelSize(Self.maximumSide, height), upscale: upscale, filter: filter, light: light)
    }
}
