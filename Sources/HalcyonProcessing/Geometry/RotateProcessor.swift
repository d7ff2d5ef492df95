import CHalcyonPixels
import Foundation
import HalcyonImage
import HalcyonSystem

/// Turns an image clockwise by any angle.
///
/// Quarter turns that cut nothing off only exchange the places of pixels. Other angles are sampled bilinearly in
/// premultiplied pixels, so that edges are smooth and have no fringe. Cost: linear in the pixels of the result.
public struct RotateProcessor: GeometricProcessor {
    /// The angle in degrees, clockwise. Whole turns change nothing.
    package var degrees: Double
    /// Whether the result grows to hold the whole image; otherwise it keeps the size, and corners are cut off. True
    /// by default.
    package var fitsSize: Bool
    /// The colour behind the image. Clear by default.
    package var background: Color

    /// Creates a processor for an angle in degrees, clockwise; omitted arguments take the defaults that the properties
    /// state.
    package init(degrees: Double, fitsSize: Bool = true, background: Color = .clear) {
        self.degrees = degrees
        self.fitsSize = fitsSize
        self.background = background
    }

    public func encode(into key: inout KeyEncoder) {
        key.encode(type: "halcyon.rotate", version: 1)
        key.encode(degrees)
        key.encode(fitsSize)
        key.encode(background)
    }

    /// Checks the parameters.
    ///
    /// - Throws: `ProcessingError.invalidArgument` if the angle or a channel of the colour is not finite.
    public func validate() throws(ProcessingError) {
        guard degrees.isFinite else {
            throw ProcessingError.invalidArgument(processor: "rotate", reason: "an angle of \(degrees) degrees")
        }
        try background.validate(processor: "rotate")
    }

    /// Returns the processed image.
    ///
    /// - Throws: The errors of `validate()`; `ProcessingError.notApplicable` if the result is larger than a bitmap
    ///   can be.
    public func process(_ image: Image, context: WorkContext) throws -> Image {
        try validate()
        if geometryStep != nil { return try processGeometry(image, context: context) }
        return try turned(image, context: context)
    }

    // MARK: - Quarter turns

    /// The number of quarter turns, 0 to 3; nil for any other angle.
    private var quarters: Int? {
        guard degrees.isFinite else { return nil }
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        guard rest.truncatingRemainder(dividingBy: 90) == 0 else { return nil }
        return (Int(rest / 90) + 4) % 4
    }

    var geometryStep: GeometryStep? {
        // A quarter turn that keeps the size cuts parts off and leaves bars.
        guard let quarters, fitsSize || quarters % 2 == 0, background == .clear else { return nil }
        return .exact
    }

    func add(to plan: inout GeometryPlan) throws {
        let turns: [Orientation] = [.up, .right, .down, .left]
        if let quarters { plan.turn(turns[quarters]) }
    }

    // MARK: - Other angles

    private func turned(_ image: Image, context: WorkContext) throws -> Image {
        let rest = degrees.truncatingRemainder(dividingBy: 360)
        let (sine, cosine) = Self.sineAndCosine(rest, quarters: quarters)
        let size = fitsSize ? Self.size(holding: image.size, sine: sine, cosine: cosine) : image.size
        try ResultLimit.check(size, processor: "rotate")
        let turning = halcyon_turning(
            cosine: cosine, sine: sine, ground: background.packed, is_opaque: image.bitmap.isOpaque)
        let isOpaque = image.bitmap.isOpaque && background.packed >> 24 == 255
        let bitmap = try image.bitmap.applying(size: size, isOpaque: isOpaque, context: context) {
            halcyon_turn($0, $1, turning, $2, $3)
        }
        return image.replacing(bitmap)
    }

    /// Returns the sine and the cosine, which are exact for quarter turns.
    private static func sineAndCosine(_ degrees: Double, quarters: Int?) -> (Double, Double) {
        guard let quarters else { return (sin(degrees * .pi / 180), cos(degrees * .pi / 180)) }
        return [(0, 1), (1, 0), (0, -1), (-1, 0)][quarters]
    }

    private static func size(holding size: PixelSize, sine: Double, cosine: Double) -> PixelSize {
        let (width, height) = (Double(size.width), Double(size.height))
        // Rounding errors alone must not add a row.
        func side(_ value: Double) -> Int { max(1, Int((value - 1e-6).rounded(.up))) }
        return PixelSize(
            side(width * abs(cosine) + height * abs(sine)), side(width * abs(sine) + height * abs(cosine)))
    }
}

extension ImageProcessor where Self == RotateProcessor {
    /// Turns clockwise by an angle in degrees; by default the result grows to hold the whole image.
    public static func rotate(degrees: Double, fitsSize: Bool = true, background: Color = .clear) -> Self {
        RotateProcessor(degrees: degrees, fitsSize: fitsSize, background: background)
    }
}
