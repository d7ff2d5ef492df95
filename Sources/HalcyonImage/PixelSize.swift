/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int

    /// Creates a size from a width and a height in pixels. Nothing is checked here.
    public init(_ width: Int, _ height: Int) {
        self.width = width
        self.height = height
    }

    /// The number of pixels; nil if it does not fit an `Int` or a side is negative.
    public var area: Int? {
        guard width >= 0, height >= 0 else { return nil }
        let (product, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? nil : product
    }

    /// The bytes of a bitmap of this size; `Int.max` if they do not fit an `Int`.
    package var bitmapBytes: Int {
        guard let area else { return .max }
        let (bytes, overflow) = area.multipliedReportingOverflow(by: 4)
        return overflow ? .max : bytes
    }

    /// Whether a side is zero or negative.
    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// The size with width and height exchanged.
    public var transposed: PixelSize { PixelSize(height, width) }

    /// The size as `320x240`.
    public var description: String { "\(width)x\(height)" }
}

extension Int {
    /// Returns the sum with `count * other`; `Int.max` if it does not fit. No operand may be negative.
    package func adding(_ count: Int, times other: Int) -> Int {
        let product = other.multipliedReportingOverflow(by: count)
        let sum = addingReportingOverflow(product.partialValue)
        return product.overflow || sum.overflow ? .max : sum.partialValue
    }
}
