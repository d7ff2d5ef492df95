/// A rectangle of pixels with its origin at the top left of the upright image.
public struct PixelRect: Hashable, Sendable, CustomStringConvertible {
    /// The left edge, in pixels from the image's left edge; negative if it lies outside.
    public var x: Int
    /// The top edge, in pixels from the image's top edge; negative if it lies outside.
    public var y: Int
    /// The width and height in pixels.
    public var size: PixelSize

    /// Creates a rectangle from its left and top edges and its size, in pixels. Nothing is checked here.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        size = PixelSize(width, height)
    }

    /// Returns the part that lies inside an image of `bounds`; nil if no part does.
    public func clamped(to bounds: PixelSize) -> PixelRect? {
        let left = max(0, x)
        let top = max(0, y)
        let right = min(bounds.width, Self.sum(x, size.width))
        let bottom = min(bounds.height, Self.sum(y, size.height))
        guard right > left, bottom > top else { return nil }
        return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// The rectangle as `100x80@20,30`.
    public var description: String { "\(size)@\(x),\(y)" }

    /// Returns the saturated sum, so that an absurd rectangle cannot trap.
    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard overflow else { return sum }
        return left > 0 ? .max : .min
    }
}
