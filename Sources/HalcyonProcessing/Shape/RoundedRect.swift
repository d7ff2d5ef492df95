import HalcyonImage

/// A rectangle with round corners in an image, as the share of each pixel that it covers.
struct RoundedRect {
    private let size: PixelSize
    private let inset: Double
    private let corners: Corners
    private let cut: CornerCut

    /// - Parameters:
    ///   - radius: pixels, at most half of a side less the inset.
    ///   - inset: pixels from the image's edges.
    init(size: PixelSize, radius: Double, corners: Corners, inset: Double = 0) {
        self.size = size
        self.inset = inset
        self.corners = corners
        cut = CornerCut(radius: corners.isEmpty ? 0 : radius, inset: inset)
    }

    /// Columns at either end of a row that may not be covered like its middle.
    func margin(row: Int) -> Int {
        let cut = cut.columns(row: min(row, size.height - 1 - row))
        return min((size.width + 1) / 2, max(cut, Int(inset.rounded(.up))))
    }

    /// What a row's middle is covered by: 1 but for an inset.
    func middle(row: Int) -> Float { Float(Self.edge(row, size.height, inset)) }

    /// Whether all pixels of a row are covered alike.
    func isPlain(row: Int) -> Bool {
        inset == 0 && min(row, size.height - 1 - row) >= cut.reach
    }

    /// The share of a pixel.
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

    /// How much of a pixel lies between two edges.
    private static func edge(_ place: Int, _ length: Int, _ inset: Double) -> Double {
        max(0, min(Double(place + 1), Double(length) - inset) - max(Double(place), inset))
    }
}
