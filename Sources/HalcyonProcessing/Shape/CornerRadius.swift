import HalcyonImage

/// The radius of a corner's arc.
public enum CornerRadius: Hashable, Sendable {
    case pixels(Double)
    /// A fraction of the image's width: 0.5 makes half circles of a square's sides.
    case widthFraction(Double)
    /// A fraction of the image's height.
    case heightFraction(Double)

    /// - Throws: `ProcessingError.invalidArgument` if the value is negative or not finite.
    func validate(processor: String) throws {
        let value: Double =
            switch self {
            case .pixels(let value), .widthFraction(let value), .heightFraction(let value): value
            }
        guard value.isFinite, value >= 0 else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "a radius of \(value)")
        }
    }

    /// Returns the radius in pixels for an image of this size, at most half of the shorter side.
    func pixels(in size: PixelSize) -> Double {
        let half = Double(min(size.width, size.height)) / 2
        return switch self {
        case .pixels(let pixels): min(pixels, half)
        case .widthFraction(let fraction): min(fraction * Double(size.width), half)
        case .heightFraction(let fraction): min(fraction * Double(size.height), half)
        }
    }

    func encode(into key: inout KeyEncoder) {
        switch self {
        case .pixels(let value):
            key.encode(0)
            key.encode(value)
        case .widthFraction(let value):
            key.encode(1)
            key.encode(value)
        case .heightFraction(let value):
            key.encode(2)
            key.encode(value)
        }
    }
}
