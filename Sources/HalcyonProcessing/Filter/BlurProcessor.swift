import CHalcyonPixels
import HalcyonImage
import HalcyonSystem

/// Blurs an image like a Gaussian.
///
/// The blur is made of three box passes on each axis, whose widths match the Gaussian's variance exactly, or below a
/// radius of 1 of the Gaussian's own weights. Beyond its edges the image is extended by its outermost pixels. The
/// result for a photograph is within 40 dB of the Gaussian; stripes of black and white that are as wide as one or two
/// radii differ by at most eight levels. Cost: linear in the pixels, whatever the radius, except for images that are
/// thinner than it.
public struct BlurProcessor: ImageProcessor {
    /// The largest radius in pixels.
    package static let maximumRadius = 1000.0

    /// The Gaussian's standard deviation in pixels; 0 changes nothing, more than 1,000 is an error.
    package var radius: Double

    /// Creates a processor that blurs by a Gaussian whose standard deviation is `radius` pixels, from 0 to 1,000.
    package init(radius: Double) {
        self.radius = radius
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.blur", version: 1)
        key.encode(radius)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` where the radius is not in 0...1,000.
    public func validate() throws(ProcessingError) { try Self.validate(radius, processor: "blur") }

    static func validate(_ radius: Double, processor: String) throws(ProcessingError) {
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
