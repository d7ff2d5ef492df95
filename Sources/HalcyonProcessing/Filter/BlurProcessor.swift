import CHalcyonPixels
import HalcyonImage
import HalcyonSystem

/// Blurs an image as a Gaussian does.
///
/// By three passes of a box each way, whose widths make the Gaussian's variance exactly, or below a radius of 1 by the
/// Gaussian's own weights; beyond its edges the image goes on as its outermost pixels. A photograph is within 40 dB of
/// the Gaussian itself; stripes of black and white that are as wide as a radius or two are, at worst, eight levels off. Cost:
/// linear in the pixels, whatever the radius, but for images that are thinner than it.
public struct BlurProcessor: ImageProcessor {
    /// In pixels.
    public static let maximumRadius = 1000.0

    /// The Gaussian's standard deviation in pixels; 0 changes nothing, more than 1,000 is an error.
    public var radius: Double

    public init(radius: Double) {
        self.radius = radius
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.blur", version: 1)
        key.encode(radius)
    }

    /// - Throws: `ProcessingError.invalidArgument` where the radius is not in 0...1,000.
    public func validate() throws { try Self.validate(radius, processor: "blur") }

    static func validate(_ radius: Double, processor: String) throws {
        guard (0...maximumRadius).contains(radius) else {
            throw ProcessingError.invalidArgument(
                processor: processor, reason: "a radius of \(radius) pixels; it is 0 to \(Int(maximumRadius))")
        }
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        guard radius > 0 else { return image }
        let bitmap = try image.bitmap.applying(isOpaque: image.bitmap.isOpaque, context: context) {
            halcyon_blur($0, $1, radius, $2, $3)
        }
        return image.replacing(bitmap)
    }
}

extension ImageProcessor where Self == BlurProcessor {
    /// Blurs by a Gaussian with a standard deviation in pixels.
    public static func blur(radius: Double) -> Self { BlurProcessor(radius: radius) }
}
