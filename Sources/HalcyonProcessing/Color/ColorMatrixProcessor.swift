import CHalcyonPixels
import HalcyonImage
import HalcyonSystem

/// Multiplies each pixel with a matrix.
public struct ColorMatrixProcessor: ImageProcessor {
    /// The matrix; its values must be finite.
    package var matrix: ColorMatrix

    /// Creates a processor that multiplies each pixel with a matrix.
    package init(_ matrix: ColorMatrix) {
        self.matrix = matrix
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.color-matrix", version: 1)
        for row in matrix.rows { row.values.forEach { key.encode($0) } }
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if the matrix has a value that is not finite.
    public func validate() throws(ProcessingError) { try matrix.validate(processor: "matrix") }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try matrix.applied(to: image, processor: "matrix", context: context)
    }
}

extension ColorMatrix {
    func validate(processor: String) throws(ProcessingError) {
        guard isFinite else {
            throw ProcessingError.invalidArgument(
                processor: processor, reason: "the colour matrix has a value that is not finite")
        }
    }

    /// - Throws: The errors of `validate(processor:)`; `CancellationError` within 16 rows of the cancellation.
    func applied(to image: Image, processor: String, context: WorkContext) throws -> Image {
        try validate(processor: processor)
        if self == .identity { return image }
        var kernel = kernel
        // An opaque image stays opaque if its alpha depends on alpha alone, with a factor of 1.
        let isOpaque = image.bitmap.isOpaque && isSeparable && alpha.alpha == 1
        let bitmap = try image.bitmap.applying(isOpaque: isOpaque, context: context) {
            halcyon_transform_colors($0, $1, &kernel, $2, $3)
        }
        return image.replacing(bitmap)
    }
}

extension ImageProcessor where Self == ColorMatrixProcessor {
    /// Multiplies each pixel with a matrix.
    public static func colorMatrix(_ matrix: ColorMatrix) -> Self { ColorMatrixProcessor(matrix) }
}

/// Makes each colour its complement; alpha stays.
public struct InvertProcessor: ImageProcessor {
    /// Creates a processor; it has no parameters.
    package init() {}

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.invert", version: 1)
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try ColorMatrix.scale(-1, bias: 1).applied(to: image, processor: "invert", context: context)
    }
}

extension ImageProcessor where Self == InvertProcessor {
    /// Makes each colour its complement.
    public static var invert: Self { InvertProcessor() }
}
