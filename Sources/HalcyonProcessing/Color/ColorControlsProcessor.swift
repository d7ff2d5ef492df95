import Foundation
import HalcyonImage
import HalcyonSystem

/// Changes saturation, contrast, brightness and exposure, in that order.
///
/// On sRGB values from 0 to 1: ((saturated - 0.5) * contrast + 0.5 + brightness) * 2 ^ exposure, clamped at the end.
public struct ColorControlsProcessor: ImageProcessor {
    /// The value that is added: -1 gives black, 1 white. 0 by default.
    package var brightness: Double
    /// The factor of the distance from middle grey: 0 gives an even grey. 1 by default.
    package var contrast: Double
    /// The factor of the saturation: 0 gives grey. 1 by default.
    package var saturation: Double
    /// The exposure in stops: 1 doubles the values. 0 by default.
    package var exposure: Double

    /// Creates a processor; omitted arguments take the defaults that the properties state.
    package init(brightness: Double = 0, contrast: Double = 1, saturation: Double, exposure: Double) {
        self.brightness = brightness
        self.contrast = contrast
        self.saturation = saturation
        self.exposure = exposure
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.color-controls", version: 1)
        for value in [brightness, contrast, saturation, exposure] { key.encode(value) }
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if a parameter is not finite.
    public func validate() throws(ProcessingError) {
        // An exposure of minus infinity gives a finite matrix, black, so the check of the matrix would not find it.
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

/// Makes an image grey and a little lighter: colour controls with a saturation of 0 and an exposure of 0.7 stops.
public struct BlackWhiteProcessor: ImageProcessor {
    private static let controls = ColorControlsProcessor(saturation: 0, exposure: 0.7)

    /// Creates a processor; it has no parameters.
    package init() {}

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
