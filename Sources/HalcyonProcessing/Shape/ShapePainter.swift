import HalcyonImage
import HalcyonSystem

/// Cuts an image to a rectangle with round corners, with a border along its edge and a background behind it.
///
/// The arithmetic is on premultiplied pixels: a pixel that is half covered has half of each channel, so that edges
/// have no fringe.
struct ShapePainter {
    private let outer: RoundedRect
    /// The part of the image inside of the border; nil without a border.
    private let inner: RoundedRect?
    private let border: SIMD4<Float>
    private let ground: SIMD4<Float>
    private let clips: Bool
    private let cuts: Bool

    /// - Parameter clips: Whether the image is cut to the shape; otherwise only the border is drawn.
    init(
        _ size: PixelSize, radius: Double, corners: RectCorner, border: ImageBorder?, background: Color,
        clips: Bool = true
    ) {
        outer = RoundedRect(size: size, radius: radius, corners: corners)
        self.clips = clips
        cuts = clips && radius > 0 && !corners.isEmpty
        // A border that would cover the whole image is as wide as half of its shorter side.
        let width = min(border?.width ?? 0, Double(min(size.width, size.height)) / 2)
        inner =
            width > 0
            ? RoundedRect(size: size, radius: max(0, radius - width), corners: corners, inset: width) : nil
        self.border = Self.premultiplied(border?.color ?? .clear)
        ground = Self.premultiplied(background)
    }

    /// - Throws: `BitmapError`; `CancellationError` within 16 rows of the cancellation.
    func painted(_ bitmap: Bitmap, context: WorkContext) throws -> Bitmap {
        let isOpaque = (clips && ground.w == 255) || (bitmap.isOpaque && !cuts)
        return try Bitmap(size: bitmap.size, isOpaque: isOpaque) { output in
            let canvas = Canvas(output, size: bitmap.size)
            try bitmap.withPixels { bytes in
                let source = bytes.bindMemory(to: UInt32.self)
                for row in 0..<bitmap.height {
                    if row % 16 == 0 { try context.checkCancellation() }
                    let start = row * bitmap.width
                    let line = UnsafeBufferPointer(rebasing: source[start..<(start + bitmap.width)])
                    if onlyCuts {
                        _ = canvas[row].update(fromContentsOf: line)
                        if cuts, !outer.isPlain(row: row) { cut(row, canvas[row]) }
                    } else {
                        paint(row, line, canvas[row], isOpaque: bitmap.isOpaque)
                    }
                }
            }
        }
    }

    /// Whether nothing is drawn, and there is nothing behind the image.
    private var onlyCuts: Bool { inner == nil && !(ground.w > 0 && clips) }

    /// Cuts the ends of a row of the image.
    private func cut(_ row: Int, _ target: UnsafeMutableBufferPointer<UInt32>) {
        let width = target.count
        let margin = outer.margin(row: row)
        let empty = outer.empty(row: row)
        let left = min(empty.left, margin)
        let right = max(width - empty.right, width - margin, margin)
        target[..<left].update(repeating: 0)
        target[right...].update(repeating: 0)
        for columns in [left..<margin, max(margin, width - margin)..<right] {
            for column in columns {
                let covered = outer.coverage(column: column, row: row)
                if covered < 1 { target[column] = Self.packed(Self.vector(target[column]) * covered) }
            }
        }
    }

    private func paint(
        _ row: Int, _ source: UnsafeBufferPointer<UInt32>, _ target: UnsafeMutableBufferPointer<UInt32>, isOpaque: Bool
    ) {
        let width = source.count
        let showsGround = ground.w > 0 && !isOpaque && clips
        if outer.isPlain(row: row), inner == nil, !showsGround {
            _ = target.update(fromContentsOf: source)
            return
        }
        let margin = max(outer.margin(row: row), inner?.margin(row: row) ?? 0)
        for column in 0..<margin {
            paint(
                source, target, column, outer.coverage(column: column, row: row),
                inner?.coverage(column: column, row: row))
            let other = width - 1 - column
            guard other != column else { continue }
            paint(
                source, target, other, outer.coverage(column: other, row: row), inner?.coverage(column: other, row: row)
            )
        }
        guard margin < width - margin else { return }
        let (covered, left) = (outer.middle(row: row), inner?.middle(row: row))
        if covered == 1, left ?? 1 == 1, !showsGround {
            for column in margin..<(width - margin) { target[column] = source[column] }
        } else {
            for column in margin..<(width - margin) { paint(source, target, column, covered, left) }
        }
    }

    /// - Parameters:
    ///   - covered: The share of the pixel that the shape covers.
    ///   - left: The share of the pixel that is inside of the border.
    private func paint(
        _ source: UnsafeBufferPointer<UInt32>, _ target: UnsafeMutableBufferPointer<UInt32>, _ column: Int,
        _ covered: Float, _ left: Float?
    ) {
        let ring = max(0, covered - (left ?? covered))
        let line = border * ring
        var pixel = Self.vector(source[column])
        // The border covers the image by its alpha, and only where the border is.
        pixel = pixel * ((clips ? covered : 1) - ring * border.w / 255) + line
        if ground.w > 0, clips { pixel += ground * (1 - pixel.w / 255) }
        target[column] = Self.packed(pixel)
    }

    private static func premultiplied(_ color: Color) -> SIMD4<Float> { vector(color.packed) }

    private static func vector(_ pixel: UInt32) -> SIMD4<Float> {
        SIMD4<Float>(
            Float(pixel & 255), Float(pixel >> 8 & 255), Float(pixel >> 16 & 255), Float(pixel >> 24))
    }

    private static func packed(_ pixel: SIMD4<Float>) -> UInt32 {
        // A conversion of a whole vector to integers is a call for each of its parts.
        func byte(_ value: Float) -> UInt32 { UInt32(min(max(value + 0.5, 0), 255)) }
        return byte(pixel.x) | byte(pixel.y) << 8 | byte(pixel.z) << 16 | byte(pixel.w) << 24
    }
}
