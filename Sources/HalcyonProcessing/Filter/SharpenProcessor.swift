import CHalcyonPixels
import HalcyonImage
import HalcyonSystem

/// Sharpens edges by adding the difference between the image and its blur.
public struct SharpenProcessor: ImageProcessor {
    /// The factor of that difference: 0 changes nothing. 0.5 by default, at most 100.
    package var amount: Double
    /// The radius of the blur in pixels, which is how far from an edge the change reaches. 1 by default.
    package var radius: Double

    /// Creates a processor; omitted arguments take the defaults that the properties state.
    package init(amount: Double = 0.5, radius: Double = 1) {
        self.amount = amount
        self.radius = radius
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.sharpen", version: 1)
        key.encode(amount)
        key.encode(radius)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if the amount is not in 0...100 or the radius not in 0...1,000.
    public func validate() throws(ProcessingError) {
        guard (0...100).contains(amount) else {
            throw ProcessingError.invalidArgument(
                processor: "sharpen", reason: "an amount of \(amount); it is 0 to 100")
        }
        try BlurProcessor.validate(radius, processor: "sharpen")
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        guard amount > 0, radius > 0 else { return image }
        let bitmap = try image.bitmap.applying(isOpaque: image.bitmap.isOpaque, context: context) {
            halcyon_sharpen($0, $1, radius, Float(amount), $2, $3)
        }
        return image.replacing(bitmap)
    }
}

extension ImageProcessor where Self == SharpenProcessor {
    /// Sharpens edges by adding the difference between the image and its blur.
    public static func sharpen(amount: Double = 0.5, radius: Double = 1) -> Self {
        SharpenProcessor(amount: amount, radius: radius)
    }
}
