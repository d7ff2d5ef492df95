import HalcyonImage
import HalcyonSystem

/// Makes each colour its complement; alpha stays.
public struct InvertProcessor: ImageProcessor {
    public init() {}

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
