import HalcyonImage

/// A width and a height in fractional pixels.
struct PixelExtent {
    let width: Double
    let height: Double

    /// Creates the extent that a decoder reports to cover of its native size, clamped to that size in case the report
    /// is invalid.
    init(_ coverage: (width: Double, height: Double), within size: PixelSize) {
        width = Self.clamped(coverage.width, to: Double(size.width))
        height = Self.clamped(coverage.height, to: Double(size.height))
    }

    private static func clamped(_ value: Double, to limit: Double) -> Double {
        value > 0 && value <= limit ? value : limit
    }
}
