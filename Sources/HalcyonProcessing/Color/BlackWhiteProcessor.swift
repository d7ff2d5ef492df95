import HalcyonImage
import HalcyonSystem

/// Makes an image grey and a little lighter: colour controls with a saturation of 0 and an exposure of 0.7 stops.
public struct BlackWhiteProcessor: ImageProcessor {
    private static let controls = ColorControlsProcessor(saturation: 0, exposure: 0.7)

    public init() {}

    /// Encodes the equivalent colour controls, so that both share cached results.
    public func encode(into key: inout KeyEncoder) { Self.controls.encode(into: &key) }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try Self.controls.process(image, context: context)
    }
}

extension ImageProcessor where Self == BlackWhiteProcessor {
    /// Makes an image grey and a little lighter.
    public static var blackWhite: Self { BlackWhiteProcessor() }
}
