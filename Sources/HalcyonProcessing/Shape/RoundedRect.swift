import Foundation
import HalcyonImage

/// The coverage of an image's pixels by a rectangle with round corners.
struct RoundedRect {
    private let size: PixelSize
    private let inset: Double
    private let corners: RectCorner
    private let cut: CornerCut

    /// - Parameters:
    ///   - radius: The radius in pixels, at most half of a side less the inset.
    ///   - inset: The distance from the image's edges in pixels.
    init(size: PixelSize, radius: Double, corners: RectCorner, inset: Double = 0) {
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

    /// Returns a number of columns at either end of a row that are cut off entirely.
    func empty(row: Int) -> (left: Int, right: Int) {
        let (top, bottom) = (cut.emptyColumns(row: row), cut.emptyColumns(row: size.height - 1 - row))
        return (
            max(corners.contains(.topLeft) ? top : 0, corners.contains(.bottomLeft) ? bottom : 0),
            max(corners.contains(.topRight) ? top : 0, corners.contains(.bottomRight) ? bottom : 0)
        )
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

/// The area that an arc cuts off each pixel of a top left corner, exact by the integral of the circle.
///
/// Only the pixels that are cut in part are stored: some two for each pixel of radius and inset.
struct CornerCut {
    private struct Row {
        /// The first column that is not cut off entirely, and the end of the columns that are cut.
        let start: Int
        let end: Int
        /// The offset of these columns' areas in `cuts`.
        let offset: Int
    }

    /// The number of columns and rows that the corner reaches.
    let reach: Int
    private let inset: Double
    private let rows: [Row]
    private let cuts: [Float]

    /// - Parameters:
    ///   - radius: The radius of the arc in pixels.
    ///   - inset: The distance of the edges from the image's in pixels. The area outside of them is not part of the
    ///     cut.
    init(radius: Double, inset: Double) {
        let reach = radius > 0 ? Int((radius + inset).rounded(.up)) : 0
        let arc = Arc(radius: radius, inset: inset)
        var (rows, cuts): ([Row], [Float]) = ([], [])
        for row in 0..<reach {
            let (top, bottom) = (max(Double(row), inset), Double(row + 1))
            guard bottom > top else {
                rows.append(Row(start: 0, end: 0, offset: 0))
                continue
            }
            // To the left of `empty` no part of the row is inside of the arc; from `full` on all of it is.
            let (empty, full) = (arc.column(at: bottom), arc.column(at: top))
            let end = min(reach, Int(full.rounded(.up)))
            let start = min(end, Int(empty.rounded(.down)))
            rows.append(Row(start: start, end: end, offset: cuts.count))
            for column in start..<end {
                let (left, right) = (max(Double(column), inset), Double(column + 1))
                let whole = max(0, right - max(left, full)) * (bottom - top)
                let part = arc.area(from: max(left, empty), to: min(right, full), above: bottom)
                cuts.append(Float(max(0, max(0, right - left) * (bottom - top) - whole - part)))
            }
        }
        (self.reach, self.inset, self.rows, self.cuts) = (reach, inset, rows, cuts)
    }

    /// Returns the number of columns of a row up to the last one that is cut.
    func columns(row: Int) -> Int { row < reach ? rows[row].end : 0 }

    /// Returns the number of columns of a row that are cut off entirely.
    func emptyColumns(row: Int) -> Int { row < reach ? rows[row].start : 0 }

    /// The area that is cut off a pixel.
    subscript(column: Int, row: Int) -> Float {
        guard row < reach, column < rows[row].end else { return 0 }
        if column >= rows[row].start { return cuts[rows[row].offset + column - rows[row].start] }
        func inside(_ place: Int) -> Double { max(0, Double(place + 1) - max(Double(place), inset)) }
        return Float(inside(column) * inside(row))
    }
}

/// The arc of a top left corner: its height at x is c - sqrt(r^2 - (c - x)^2), about a centre at c on both axes.
private struct Arc {
    let radius: Double
    let inset: Double

    private var middle: Double { radius + inset }

    /// Returns the column at which the arc has a height.
    func column(at height: Double) -> Double {
        let rise = min(max(middle - height, 0), radius)
        return middle - (radius * radius - rise * rise).squareRoot()
    }

    /// Returns the area between the arc and a row's lower edge.
    func area(from left: Double, to right: Double, above bottom: Double) -> Double {
        guard right > left else { return 0 }
        return (bottom - middle) * (right - left) + integral(middle - left) - integral(middle - right)
    }

    /// Returns the integral of sqrt(r^2 - t^2) from 0 to t.
    private func integral(_ t: Double) -> Double {
        let t = min(max(t, -radius), radius)
        return (t * (radius * radius - t * t).squareRoot() + radius * radius * asin(t / radius)) / 2
    }
}
