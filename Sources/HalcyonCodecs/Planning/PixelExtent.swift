import HalcyonImage

/// A width and a height in fractions of pixels.
struct PixelExtent {
    let width: Double
    let height: Double

    /// What a decoder says its native size covers, held within that size whatever it says.
    init(_ coverage: (width: Double, height: Double), within size: PixelSize) {
        width = Self.clamped(coverage.width, to: Double(size.width))
        height = Self.clamped(coverage.height, to: Double(size.height))
    }

    private static func clamped(_ value: Double, to limit: Double) -> Double {
        value > 0 && value <= limit ? value : limit
    }
}
