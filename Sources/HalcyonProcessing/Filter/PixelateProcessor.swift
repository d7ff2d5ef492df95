import CHalcyonPixels
import HalcyonImage
import HalcyonSystem

/// Fills squares with their mean colours, starting at the top left.
public struct PixelateProcessor: ImageProcessor {
    /// The side of a square in pixels; 1 changes nothing.
    package var side: Int

    /// Creates a processor that fills squares of `side` pixels, at least 1.
    package init(side: Int) {
        self.side = side
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.pixelate", version: 1)
        key.encode(side)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if the side is below 1.
    public func validate() throws(ProcessingError) {
        guard side >= 1 else {
            throw ProcessingError.invalidArgument(processor: "pixelate", reason: "squares of \(side) pixels")
        }
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        guard side > 1 else { return image }
        // A square needs to be no larger than the image.
        let side = Int32(min(side, max(image.width, image.height)))
        let bitmap = try image.bitmap.applying(isOpaque: image.bitmap.isOpaque, context: context) {
            halcyon_pixelate($0, $1, side, $2, $3)
        }
        return image.replacing(bitmap)
    }
}

extension ImageProcessor where Self == PixelateProcessor {
    /// Fills squares of `side` pixels with their mean colours.
    public static func pixelate(side: Int) -> Self { PixelateProcessor(side: side) }
}
