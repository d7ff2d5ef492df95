import CXXHash
import HalcyonImage
import HalcyonSystem

/// Draws another image over an image.
///
/// The key holds a hash of the watermark's pixels, so that it needs no identifier.
public struct WatermarkProcessor: ImageProcessor {
    /// The image that is drawn; for an animation, its first frame.
    package let watermark: Image
    /// The horizontal position: 0 is left, 0.5 the middle, 1 right. 1 by default.
    package var anchorX: Double
    /// The vertical position: 0 is the top, 1 the bottom. 1 by default.
    package var anchorY: Double
    /// The distance from each edge in pixels. 0 by default.
    package var margin: Int
    /// The watermark's width as a fraction of the image's; nil, the default, keeps its own size. The part that does
    /// not fit is cut off.
    package var widthFraction: Double?
    /// The opacity, 0 to 1, the default.
    package var opacity: Double
    private let digest: PixelDigest

    /// Creates a processor; omitted arguments take the defaults that the properties state.
    ///
    /// Cost: hashes the watermark's pixels, once.
    package init(
        _ watermark: Image, anchorX: Double = 1, anchorY: Double = 1, margin: Int = 0, widthFraction: Double? = nil,
        opacity: Double = 1
    ) {
        self.watermark = watermark
        self.anchorX = anchorX
        self.anchorY = anchorY
        self.margin = margin
        self.widthFraction = widthFraction
        self.opacity = opacity
        digest = PixelDigest(watermark.bitmap)
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.watermark", version: 1)
        key.encode(watermark.size)
        digest.encode(into: &key)
        for value in [anchorX, anchorY, opacity] { key.encode(value) }
        key.encode(margin)
        key.encode(widthFraction != nil)
        if let widthFraction { key.encode(widthFraction) }
    }

    public static func == (left: WatermarkProcessor, right: WatermarkProcessor) -> Bool {
        left.digest == right.digest && left.watermark.size == right.watermark.size && left.anchorX == right.anchorX
            && left.anchorY == right.anchorY && left.margin == right.margin
            && left.widthFraction == right.widthFraction && left.opacity == right.opacity
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
        hasher.combine(margin)
        hasher.combine(opacity)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if an anchor is NaN, the margin negative or larger than
    ///   `Bitmap.maximumSide`, the opacity not in 0...1, or the width not above 0 and at most 1.
    public func validate() throws(ProcessingError) {
        try Fraction.validate(opacity, processor: "watermark")
        guard !anchorX.isNaN, !anchorY.isNaN else {
            throw ProcessingError.invalidArgument(processor: "watermark", reason: "the anchor is not a number")
        }
        guard (0...Bitmap.maximumSide).contains(margin) else {
            throw ProcessingError.invalidArgument(processor: "watermark", reason: "a margin of \(margin) pixels")
        }
        if let widthFraction, !(widthFraction > 0 && widthFraction <= 1) {
            throw ProcessingError.invalidArgument(
                processor: "watermark", reason: "a width of \(widthFraction) of the image's")
        }
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        guard opacity > 0 else { return image }
        let mark = sizedMark(for: image.size)
        let (x, y) = (place(anchorX, image.width, mark.width), place(anchorY, image.height, mark.height))
        let visible = PixelRect(x: -x, y: -y, width: image.width, height: image.height).clamped(to: mark)
        guard let visible else { return image }
        let part = try part(visible, of: mark, context: context).bitmap
        let bitmap = try Bitmap(size: image.size, isOpaque: image.bitmap.isOpaque) { output in
            var canvas = Canvas(output, size: image.size)
            try canvas.draw(image.bitmap, x: 0, y: 0, over: false, context: context)
            try canvas.draw(part, x: max(0, x), y: max(0, y), over: true, context: context)
        }
        return image.replacing(bitmap)
    }

    /// Returns the size of the whole watermark in pixels, including any part outside the image.
    private func sizedMark(for size: PixelSize) -> PixelSize {
        guard let widthFraction else { return watermark.size }
        let width = max(1, (Double(size.width) * widthFraction).rounded())
        let height = (Double(watermark.height) * width / Double(watermark.width)).rounded()
        return PixelSize(Int(width), max(1, Int(height)))
    }

    /// Returns the visible part; only that part is scaled.
    private func part(_ visible: PixelRect, of size: PixelSize, context: WorkContext) throws -> Image {
        var plan = GeometryPlan(watermark.size)
        if size != watermark.size {
            let geometry = ResizeGeometry(source: watermark.size, box: size, mode: .stretch, upscale: true)
            plan.scale(geometry, filter: .lanczos)
        }
        plan.crop(visible)
        return try OpacityProcessor(opacity).process(plan.applied(to: watermark, context: context), context: context)
    }

    /// Returns the offset of the watermark, which is negative if the watermark is larger than the image.
    private func place(_ anchor: Double, _ length: Int, _ mark: Int) -> Int {
        margin + Anchor.offset(anchor, room: length - mark - 2 * margin)
    }
}

extension ImageProcessor where Self == WatermarkProcessor {
    /// Draws another image over the image, at the bottom right by default.
    public static func watermark(
        _ watermark: Image, anchorX: Double = 1, anchorY: Double = 1, margin: Int = 0, widthFraction: Double? = nil,
        opacity: Double = 1
    ) -> Self {
        WatermarkProcessor(
            watermark, anchorX: anchorX, anchorY: anchorY, margin: margin, widthFraction: widthFraction,
            opacity: opacity)
    }
}

/// The XXH3-128 hash of a bitmap's pixels.
struct PixelDigest: Hashable, Sendable {
    private let low: UInt64
    private let high: UInt64

    /// Hashes the pixels. Cost: linear in the bytes, at the speed of memory.
    init(_ bitmap: Bitmap) {
        let hash = bitmap.withPixels { XXH3_128bits($0.baseAddress, $0.count) }
        (low, high) = (hash.low64, hash.high64)
    }

    func encode(into key: inout KeyEncoder) {
        key.encode(Int(bitPattern: UInt(low)))
        key.encode(Int(bitPattern: UInt(high)))
    }
}
