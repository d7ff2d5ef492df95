import Foundation

/// What an arc cuts off each pixel of a top left corner: exact areas, by the integral of the circle.
struct CornerCut {
    /// Columns and rows that the corner reaches.
    let reach: Int
    /// The cut area of each pixel, row by row.
    private let cuts: [Float]
    /// Columns of each row up to the last that is cut.
    private let columns: [Int]

    /// - Parameters:
    ///   - radius: of the arc, in pixels.
    ///   - inset: of the edges from the image's, in pixels; what lies outside of them is no part of the cut.
    init(radius: Double, inset: Double) {
        let end = radius > 0 ? Int((radius + inset).rounded(.up)) : 0
        reach = end
        var cuts = [Float](repeating: 0, count: end * end)
        var columns = [Int](repeating: 0, count: end)
        let arc = Arc(radius: radius, inset: inset)
        for row in 0..<end {
            let (top, bottom) = (max(Double(row), inset), Double(row + 1))
            guard bottom > top else { continue }
            // To the left of `empty` nothing of the row is inside of the arc, and from `full` on all of it.
            let (empty, full) = (arc.column(at: bottom), arc.column(at: top))
            columns[row] = min(end, Int(full.rounded(.up)))
            for column in 0..<columns[row] {
                let (left, right) = (max(Double(column), inset), Double(column + 1))
                guard right > left else { continue }
                let whole = max(0, right - max(left, full)) * (bottom - top)
                let part = arc.area(from: max(left, empty), to: min(right, full), above: bottom)
                cuts[row * end + column] = Float(max(0, (right - left) * (bottom - top) - whole - part))
            }
        }
        self.cuts = cuts
        self.columns = columns
    }

    /// Columns of a row up to the last that is cut.
    func columns(row: Int) -> Int { row < reach ? columns[row] : 0 }

    subscript(column: Int, row: Int) -> Float { cuts[row * reach + column] }
}

/// The arc of a top left corner: its height at x is c - sqrt(r^2 - (c - x)^2), about a middle at c on both axes.
private struct Arc {
    let radius: Double
    let inset: Double

    private var middle: Double { radius + inset }

    /// Where the arc has a height.
    func column(at height: Double) -> Double {
        let rise = min(max(middle - height, 0), radius)
        return middle - (radius * radius - rise * rise).squareRoot()
    }

    /// Between the arc and a row's lower edge.
    func area(from left: Double, to right: Double, above bottom: Double) -> Double {
        guard right > left else { return 0 }
        return (bottom - middle) * (right - left) + integral(middle - left) - integral(middle - right)
    }

    /// Of sqrt(r^2 - t^2) from 0 to t.
    private func integral(_ t: Double) -> Double {
        let t = min(max(t, -radius), radius)
        return (t * (radius * radius - t * t).squareRoot() + radius * radius * asin(t / radius)) / 2
    }
}
