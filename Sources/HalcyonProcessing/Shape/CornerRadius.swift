import HalcyonImage

/// How large the arc of a corner is.
public enum CornerRadius: Hashable, Sendable {
    case pixels(Double)
    /// Of the image's width: 0.5 makes half circles of a square's sides.
    case widthFraction(Double)
    /// Of the image's height.
    case heightFraction(Double)

    /// - Throws: `ProcessingError.invalidArgument` where it is negative or no number.
    func validate(processor: String) throws {
        let value: Double =
            switch self {
            case .pixels(let value), .widthFraction(let value), .heightFraction(let value): value
            }
        guard value.isFinite, value >= 0 else {
            throw ProcessingError.invalidArgument(processor: processor, reason: "a radius of \(value)")
        }
    }

    /// Pixels for an image of this size; more than half of the shorter side is taken as half.
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
