import HalcyonImage
import HalcyonProcessing

/// A rectangle with round corners as the share of each pixel that lies in it: the average share of many fine lines through the
/// pixel that is inside.
struct PlainShape {
    let size: PixelSize
    let radius: Double
    var corners = RectCorner.all
    /// The distance of the edges from the image's.
    var inset = 0.0

    private static let lines = 128

    /// Row by row, 0 to 1.
    func coverage() -> [Double] {
        var shares = [Double](repeating: 0, count: size.width * size.height)
        for row in 0..<size.height {
            for line in 0..<Self.lines {
                let (left, right) = ends(Double(row) + (Double(line) + 0.5) / Double(Self.lines))
                guard right > left else { continue }
                for column in 0..<size.width {
                    let length = min(right, Double(column + 1)) - max(left, Double(column))
                    if length > 0 { shares[row * size.width + column] += length / Double(Self.lines) }
                }
            }
        }
        return shares
    }

    /// Where a line at a height begins and ends in the shape.
    private func ends(_ y: Double) -> (left: Double, right: Double) {
        let (width, height) = (Double(size.width), Double(size.height))
        guard y > inset, y < height - inset else { return (0, 0) }
        let (top, bottom) = (inset + radius - y, y - (height - inset - radius))
        func cut(_ corner: RectCorner, _ rise: Double) -> Double {
            corners.contains(corner) && rise > 0 ? radius - (radius * radius - rise * rise).squareRoot() : 0
        }
        return (
            inset + max(cut(.topLeft, top), cut(.bottomLeft, bottom)),
            width - inset - max(cut(.topRight, top), cut(.bottomRight, bottom))
        )
    }
}

/// An image that is cut to a shape, with a border along its edge and a ground behind it.
struct PlainFrame {
    let source: Image
    /// Pixels.
    let radius: Double
    var corners = RectCorner.all
    var border: ImageBorder?
    var ground = Color.clear
    /// Whether the image ends at the shape.
    var clips = true

    func image() -> PlainImage {
        let plain = PlainImage(source)
        let line = border?.color.plain ?? [0, 0, 0, 0]
        let width = min(border?.width ?? 0, Double(min(source.width, source.height)) / 2)
        let outer = PlainShape(size: source.size, radius: radius, corners: corners).coverage()
        let inner =
            width == 0
            ? outer
            : PlainShape(size: source.size, radius: max(0, radius - width), corners: corners, inset: width).coverage()
        let ground = ground.plain
        return PlainImage(source.size) { x, y in
            let index = y * source.width + x
            let (ring, outside) = (max(0, outer[index] - inner[index]), 1 - outer[index])
            let pixel = plain[x, y]
            let framed = PlainImage.over(line, pixel)
            let result = (0..<4).map { channel in
                pixel[channel] * inner[index] + framed[channel] * ring + (clips ? 0 : pixel[channel] * outside)
            }
            return clips ? PlainImage.over(result, ground) : result
        }
    }
}
