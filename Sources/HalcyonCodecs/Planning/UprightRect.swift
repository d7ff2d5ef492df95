import HalcyonImage

/// A part of an image in fractions of its sides, from the top left of the upright image.
struct UprightRect {
    var x: Double
    var y: Double
    var width: Double
    var height: Double

    /// Whether the part is the whole image, except for rounding errors.
    var isWhole: Bool { width > 1 - 1e-9 && height > 1 - 1e-9 }

    /// Returns the same part in fractions of the sides of the stored image.
    func stored(_ orientation: Orientation) -> UprightRect {
        let right = 1 - x - width
        let bottom = 1 - y - height
        return switch orientation {
        case .up: self
        case .upMirrored: UprightRect(x: right, y: y, width: width, height: height)
        case .down: UprightRect(x: right, y: bottom, width: width, height: height)
        case .downMirrored: UprightRect(x: x, y: bottom, width: width, height: height)
        case .leftMirrored: UprightRect(x: y, y: x, width: height, height: width)
        // The right edge of the upright image is the top of the stored one, so the stored row counts from the right.
        case .right: UprightRect(x: y, y: right, width: height, height: width)
        case .rightMirrored: UprightRect(x: bottom, y: right, width: height, height: width)
        case .left: UprightRect(x: bottom, y: x, width: height, height: width)
        }
    }
}
