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
    /// The factor of the difference to its blur that an image is sharpened by if it becomes smaller on both sides. 0, none, by
    /// default, at most 100.
    package var sharpening: Double
    /// The deviation of that blur, in pixels of the result: about that of the filter that scales.
    private static let sharpeningRadius = 0.6

    /// Creates a processor for a box in pixels; omitted arguments take the defaults that the properties state.
    package init(
        _ size: PixelSize, mode: ResizeMode = .fit, upscale: Bool = false, filter: ResizeFilter = .lanczos,
        light: ResizeLight = .encoded, sharpening: Double = 0
    ) {
        self.size = size
        self.mode = mode
        self.upscale = upscale
        self.filter = filter
        self.light = light
        self.sharpening = sharpening
    }

    public func encode(into key: inout KeyEncoder) {
        // Images that were stored before there was a choice keep their names.
        key.encode(type: "halcyon.resize", version: sharpening != 0 ? 3 : light == .encoded ? 1 : 2)
        key.encode(size)
        key.encode(mode.rawValue)
        key.encode(upscale)
        key.encode(filter.rawValue)
        if light != .encoded || sharpening != 0 { key.encode(light.rawValue) }
        if sharpening != 0 { key.encode(sharpening) }
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if a side is below 1 or above `maximumSide`, or the sharpening not in 0...100.
    public func validate() throws(ProcessingError) {
        guard (1...Self.maximumSide).contains(size.width), (1...Self.maximumSide).contains(size.height) else {
            throw ProcessingError.invalidArgument(
                processor: "resize", reason: "a box of \(size) pixels; sides are 1 to \(Self.maximumSide)")
        }
        guard (0...100).contains(sharpening) else {
            throw ProcessingError.invalidArgument(
                processor: "resize", reason: "a sharpening of \(sharpening); it is 0 to 100")
        }
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try sharpened(try processGeometry(image, context: context), from: image.size, context: context)
    }

    /// Returns the result of this resize, sharpened if it is smaller than the part of the source that it shows.
    func sharpened(_ result: Image, from source: PixelSize, context: WorkContext) throws -> Image {
        let geometry = ResizeGeometry(source: source, box: size, mode: mode, upscale: upscale)
        guard sharpening > 0, Double(geometry.size.width) < geometry.sourceWidth,
            Double(geometry.size.height) < geometry.sourceHeight
        else { return result }
        return try SharpenProcessor(amount: sharpening, radius: Self.sharpeningRadius).process(result, context: context)
    }

    /// The geometry step. `nearest` is not combined with others: its choice between two equally near pixels depends
    /// on the side that it comes from, so a turn or a cut would change it. Sharpening comes before the next step.
    var geometryStep: GeometryStep? { filter == .nearest || sharpening != 0 ? nil : .scaling }

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
    /// - Parameters:
    ///   - light: the light in which the pixels are averaged. Take `.linear` where fine details have strong contrasts:
    ///     line art, foliage against the sky, lights at night. A JPEG or WebP is then decoded in full.
    ///   - sharpening: the factor, from 0 to 100, of the difference to a blur of 0.6 pixels that an image is sharpened by if it becomes
    ///     smaller on both sides; 0, none, by default. 0.5 gives a thumbnail the edges that its source has. A drawing that is made at
    ///     its size is not reduced. As `sharpen` does, it drops a gain map and pixels of more than 8 bits. Cost: that of `sharpen` on
    ///     the result.
    public static func resize(
        to size: PixelSize, mode: ResizeMode = .fit, upscale: Bool = false, filter: ResizeFilter = .lanczos,
        light: ResizeLight = .encoded, sharpening: Double = 0
    ) -> Self {
        ResizeProcessor(
            size, mode: mode, upscale: upscale, filter: filter, light: light, sharpening: sharpening)
    }

    /// Scales to a width in pixels and keeps the aspect ratio; never larger than the source unless `upscale`.
    ///
    /// The height follows, up to 65,535 pixels, the longest side of a box. `light` and `sharpening` are those of `resize(to:)`.
    public static func resize(
        width: Int, upscale: Bool = false, filter: ResizeFilter = .lanczos, light: ResizeLight = .encoded,
        sharpening: Double = 0
    ) -> Self {
        .resize(
            to: PixelSize(width, Self.maximumSide), upscale: upscale, filter: filter, light: light,
            sharpening: sharpening)
    }

    /// Scales to a height in pixels and keeps the aspect ratio; never larger than the source unless `upscale`.
    ///
    /// The width follows, up to 65,535 pixels, the longest side of a box. `light` and `sharpening` are those of `resize(to:)`.
    public static func resize(
        height: Int, upscale: Bool = false, filter: ResizeFilter = .lanczos, light: ResizeLight = .encoded,
        sharpening: Double = 0
    ) -> Self {
        .resize(
            to: PixelSize(Self.maximumSide, height), upscale: upscale, filter: filter, light: light,
            sharpening: sharpening)
    }
}
