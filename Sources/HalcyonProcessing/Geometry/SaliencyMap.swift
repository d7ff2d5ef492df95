import HalcyonImage
import HalcyonSystem

/// The parts of a picture that a viewer looks at first, in at most 128x128 cells.
///
/// A cell is salient by three measures, all of its mean colour in ITU-R BT.601 with 8 bits:
/// - the distance of its colour, averaged over 3x3 cells, to the mean colour of the picture, after Achanta, Hemami, Estrada and
///   Süsstrunk, "Frequency-tuned salient region detection", CVPR 2009: luma counts once, each chroma twice;
/// - its contrast in luma to the four cells beside it;
/// - whether it has the colours of skin, Cb 77 to 127 and Cr 133 to 173 by Chai and Ngan, "Face segmentation using skin-color map in
///   videophone applications", IEEE Transactions on Circuits and Systems for Video Technology 9(4), 1999. Grey and dark ones do not.
///
/// The sum of these counts as much as the cell is opaque, is averaged over 5x5 cells, and only what is above the mean of the picture
/// remains. All of it is whole numbers, so that it is the same on every machine.
struct SaliencyMap {
    private static let side = 128
    /// Most samples of a cell on each axis.
    private static let samples = 4
    private static let skin = 240
    /// Any picture among what is transparent counts more than that; in an opaque picture all cells have it.
    private static let opacity = 64

    private let source: PixelSize
    private let columns: Int
    private let rows: Int
    /// The sum of all cells above and left of each corner.
    private let sums: [Int]

    /// Cost: at most 16 pixels of a cell are read, whatever the picture's size; less than 2 MB of memory.
    ///
    /// - Throws: `CancellationError`.
    init(_ bitmap: Bitmap, context: WorkContext) throws {
        source = bitmap.size
        let longer = max(source.width, source.height)
        func cells(_ side: Int) -> Int {
            longer <= Self.side ? side : min(side, max(1, (side * Self.side + longer / 2) / longer))
        }
        (columns, rows) = (cells(source.width), cells(source.height))
        let colors = try Self.colors(of: bitmap, columns: columns, rows: rows, context: context)
        try context.checkCancellation()
        sums = Self.sums(Self.saliency(colors, columns: columns, rows: rows), columns: columns)
    }

    /// Returns the part of a size, which is at most that of the picture, with the most saliency; what lies in the middle two thirds
    /// of its sides counts one and a half times. Of equal ones it is the nearest to the middle, the upper left one first.
    func window(_ size: PixelSize) -> PixelRect {
        let across = Self.places(size.width, in: source.width, cells: columns)
        let down = Self.places(size.height, in: source.height, cells: rows)
        let (middleX, middleY) = (source.width - size.width, source.height - size.height)
        var best = (score: Int.min, distance: Int.max, x: 0, y: 0)
        for y in down {
            for x in across {
                let score = 2 * sum(x.outer, y.outer) + sum(x.inner, y.inner)
                let distance = abs(2 * x.start - middleX) + abs(2 * y.start - middleY)
                if score > best.score || score == best.score && distance < best.distance {
                    best = (score, distance, x.start, y.start)
                }
            }
        }
        return PixelRect(x: best.x, y: best.y, width: size.width, height: size.height)
    }

    // MARK: - Windows

    /// A place of a window on one axis, with its edges in 64ths of cells.
    private struct Place {
        let start: Int
        let outer: Range<Int>
        let inner: Range<Int>
    }

    /// The places at the edge of a cell, and in the middle.
    private static func places(_ length: Int, in whole: Int, cells: Int) -> [Place] {
        let room = whole - length
        func edge(_ pixel: Int) -> Int { pixel * cells * 64 / whole }
        let starts = Set((0..<cells).map { min(whole * $0 / cells, room) } + [room / 2, room])
        return starts.sorted().map { start in
            let (near, far) = (start + length / 6, start + length - length / 6)
            return Place(start: start, outer: edge(start)..<edge(start + length), inner: edge(near)..<edge(far))
        }
    }

    private func sum(_ x: Range<Int>, _ y: Range<Int>) -> Int {
        sum(x.upperBound, y.upperBound) - sum(x.lowerBound, y.upperBound) - sum(x.upperBound, y.lowerBound)
            + sum(x.lowerBound, y.lowerBound)
    }

    /// The sum above and left of a point in 64ths of cells, times 4096.
    private func sum(_ x: Int, _ y: Int) -> Int {
        let (column, row) = (min(x >> 6, columns - 1), min(y >> 6, rows - 1))
        let (right, down) = (x - column << 6, y - row << 6)
        let corner = row * (columns + 1) + column
        let above = sums[corner] * (64 - right) + sums[corner + 1] * right
        let below = sums[corner + columns + 1] * (64 - right) + sums[corner + columns + 2] * right
        return above * (64 - down) + below * down
    }

    // MARK: - Cells

    /// The mean colour of a cell.
    private struct CellColor {
        var luma = 0
        var blueness = 128
        var redness = 128
        /// 0 to 255.
        var alpha = 0

        init(blue: Int, green: Int, red: Int, alpha sum: Int, count: Int) {
            guard sum > 0 else { return }
            // The channels were multiplied with alpha.
            func straight(_ channel: Int) -> Int { min(255, (channel * 255 + sum / 2) / sum) }
            let (red, green, blue) = (straight(red), straight(green), straight(blue))
            luma = (77 * red + 150 * green + 29 * blue + 128) >> 8
            blueness = 128 + (-43 * red - 85 * green + 128 * blue + 128) >> 8
            redness = 128 + (128 * red - 107 * green - 21 * blue + 128) >> 8
            alpha = (sum + count / 2) / count
        }

        var isSkin: Bool {
            luma >= 40 && (77...127).contains(blueness) && (133...173).contains(redness) && redness - blueness >= 12
        }
    }

    private static func colors(
        of bitmap: Bitmap, columns: Int, rows: Int, context: WorkContext
    ) throws -> [CellColor] {
        let across = (0..<columns).map { samples(of: $0, of: columns, in: bitmap.width) }
        var colors: [CellColor] = []
        colors.reserveCapacity(columns * rows)
        try bitmap.withPixels { bytes in
            for row in 0..<rows {
                if row % 16 == 0 { try context.checkCancellation() }
                let down = samples(of: row, of: rows, in: bitmap.height)
                for places in across {
                    var (blue, green, red, alpha) = (0, 0, 0, 0)
                    for y in down {
                        for x in places {
                            let offset = y * bitmap.bytesPerRow + x * 4
                            blue += Int(bytes[offset])
                            green += Int(bytes[offset + 1])
                            red += Int(bytes[offset + 2])
                            alpha += Int(bytes[offset + 3])
                        }
                    }
                    colors.append(
                        CellColor(blue: blue, green: green, red: red, alpha: alpha, count: down.count * places.count))
                }
            }
        }
        return colors
    }

    private static func samples(of cell: Int, of cells: Int, in length: Int) -> [Int] {
        let (start, end) = (length * cell / cells, length * (cell + 1) / cells)
        let step = max(1, (end - start) / samples)
        return Array(stride(from: start + min(step / 2, end - start - 1), to: end, by: step).prefix(samples))
    }

    private static func saliency(_ colors: [CellColor], columns: Int, rows: Int) -> [Int] {
        let opaque = max(1, colors.reduce(0) { $0 + $1.alpha })
        func mean(_ channel: KeyPath<CellColor, Int>) -> Int {
            colors.reduce(0) { $0 + $1[keyPath: channel] * $1.alpha } / opaque
        }
        let (luma, blueness, redness) = (mean(\.luma), mean(\.blueness), mean(\.redness))
        let smooth = [\CellColor.luma, \.blueness, \.redness].map { channel in
            averaged(colors.map { $0[keyPath: channel] }, radius: 1, columns: columns)
        }
        var raw: [Int] = []
        raw.reserveCapacity(colors.count)
        for (index, color) in colors.enumerated() {
            let (x, y) = (index % columns, index / columns)
            let beside = [
                y > 0 ? index - columns : index, y + 1 < rows ? index + columns : index, x > 0 ? index - 1 : index,
                x + 1 < columns ? index + 1 : index,
            ]
            let contrast = abs(4 * color.luma - beside.reduce(0) { $0 + colors[$1].luma })
            let distance =
                abs(smooth[0][index] - luma) + 2 * abs(smooth[1][index] - blueness)
                + 2 * abs(smooth[2][index] - redness)
            let salient = opacity + 2 * distance + min(contrast, 255) + (color.isSkin ? skin : 0)
            raw.append(salient * color.alpha / 255)
        }
        let spread = averaged(raw, radius: 2, columns: columns)
        let usual = spread.reduce(0, +) / spread.count
        return spread.map { max(0, $0 - usual) }
    }

    /// Returns the mean of each cell's neighbourhood within the picture.
    private static func averaged(_ cells: [Int], radius: Int, columns: Int) -> [Int] {
        let (sums, rows) = (sums(cells, columns: columns), cells.count / columns)
        return cells.indices.map { index in
            let (x, y) = (index % columns, index / columns)
            let (left, right) = (max(0, x - radius), min(columns, x + radius + 1))
            let (top, bottom) = (max(0, y - radius) * (columns + 1), min(rows, y + radius + 1) * (columns + 1))
            let sum = sums[bottom + right] - sums[top + right] - sums[bottom + left] + sums[top + left]
            return sum / ((right - left) * ((bottom - top) / (columns + 1)))
        }
    }

    /// Returns the sum of all cells above and left of each corner, row by row.
    private static func sums(_ cells: [Int], columns: Int) -> [Int] {
        var sums = [Int](repeating: 0, count: (columns + 1) * (cells.count / columns + 1))
        for index in cells.indices {
            let corner = index / columns * (columns + 1) + index % columns
            sums[corner + columns + 2] =
                cells[index] + sums[corner + 1] + sums[corner + columns + 1] - sums[corner]
        }
        return sums
    }
}
