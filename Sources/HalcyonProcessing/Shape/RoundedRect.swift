import HalcyonImage

/// The coverage of an image's pixels by a rectangle with round corners.
struct RoundedRect {
    private let size: PixelSize
    private let inset: Double
    private let corners: Corners
    private let cut: CornerCut

    /// - Parameters:
    ///   - radius: The radius in pixels, at most half of a side less the inset.
    ///   - inset: The distance from the image's edges in pixels.
    init(size: PixelSize, radius: Double, corners: Corners, inset: Double = 0) {
        self.size = size
        self.inset = inset
        self.corners = corners
        cut = CornerCut(radius: corners.isEmpty ? 0 : radius, inset: inset)
    }

    /// Returns the number of columns at either end of a row whose coverage may differ from the middle's.
    func margin(row: Int) -> Int {
        let cut = cut.columns(row: min(row, size.height - 1 - row))
        return min((size.width + 1) / 2, max(cut, Int(inset.rounded(.up))))
    }

    /// Returns the coverage of a row's middle: 1, except in rows that the inset cuts.
    func middle(row: Int) -> Float { Float(Self.edge(row, size.height, inset)) }

    /// Whether all pixels of a row have the same coverage.
    func isPlain(row: Int) -> Bool {
        inset == 0 && min(row, size.height - 1 - row) >= cut.reach
    }

    /// Returns the share of a pixel that the rectangle covers.
    func coverage(column: Int, row: Int) -> Float {
        let plain = Float(Self.edge(column, size.width, inset)) * middle(row: row)
        let (right, bottom) = (size.width - 1 - column, size.height - 1 - row)
        var cut: Float = 0
        if corners.contains(.topLeft) { cut += self.cut[column, row] }
        if corners.contains(.topRight) { cut += self.cut[right, row] }
        if corners.contains(.bottomLeft) { cut += self.cut[column, bottom] }
        if corners.contains(.bottomRight) { cut += self.cut[right, bottom] }
        return max(0, plain - cut)
    }

    /// Returns the share of a pixel that lies between two edges on one axis.
    private static func edge(_ place: Int, _ length: Int, _ inset: Double) -> Double {
        max(0, min(Double(place + 1), Double(length) - inset) - max(Double(place), inset))
    }
}
