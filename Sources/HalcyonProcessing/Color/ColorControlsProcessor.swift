import Foundation
import HalcyonImage
import HalcyonSystem

/// Changes saturation, contrast, brightness and exposure, in that order.
///
/// On sRGB values from 0 to 1: ((saturated - 0.5) * contrast + 0.5 + brightness) * 2 ^ exposure, clamped at the end.
public struct ColorControlsProcessor: ImageProcessor {
    /// Is added: -1 is black, 1 white. 0 by default.
    public var brightness: Double
    /// About the middle: 0 is an even grey. 1 by default.
    public var contrast: Double
    /// 0 is grey. 1 by default.
    public var saturation: Double
    /// Stops: 1 doubles the light. 0 by default.
    public var exposure: Double

    public init(brightness: Double = 0, contrast: Double = 1, saturation: Double = 1, exposure: Double = 0) {
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.exposure = exposure
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.color-controls", version: 1)
        for value in [brightness, contrast, saturation, exposure] { key.encode(value) }
    }

    /// - Throws: `ProcessingError.invalidArgument` where one of them is no number.
    public func validate() throws {
        // A stop of minus infinity is black in the matrix, and nothing to be seen of it.
        guard exposure.isFinite else {
            throw ProcessingError.invalidArgument(processor: "colors", reason: "an exposure of \(exposure)")
        }
        try matrix.validate(processor: "colors")
    }

    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        return try matrix.applied(to: image, processor: "colors", context: context)
    }

    private var matrix: ColorMatrix {
        ColorMatrix.saturation(saturation)
            .followed(by: .scale(contrast, bias: 0.5 - 0.5 * contrast + brightness))
            .followed(by: .scale(pow(2, exposure)))
    }
}

extension ImageProcessor where Self == ColorControlsProcessor {
    /// Changes brightness, contrast, saturation and exposure.
    public static func colorControls(
        brightness: Double = 0, contrast: Double = 1, saturation: Double = 1, exposure: Double = 0
    ) -> Self {
        ColorControlsProcessor(
            brightness: brightness, contrast: contrast, saturation: saturation, exposure: exposure)
    }
}
