import Halcyon

/// The layout of a zoomed picture and its detail (the part that is loaded at a higher resolution) in a viewport that shows a
/// part of them.
///
/// Lengths are in units of the window, and positions count from the top left of the scrolled content.
struct ZoomPlan {
    struct Frame: Equatable {
        var (x, y, width, height): (Double, Double, Double, Double)
    }

    /// The region and the size of a detail to load.
    struct Detail: Equatable {
        /// The region, in pixels of the image.
        var region: PixelRect
        /// The size of the result, in pixels of the screen.
        var target: PixelSize
    }

    /// The size of the viewport.
    var viewport: (width: Double, height: Double)
    /// The size of the whole image.
    var image: PixelSize
    /// The units for each pixel of the image; nil fits the whole image into the viewport.
    var zoom: Double?
    /// The number of screen pixels for one unit.
    var scaleFactor = 1
    /// Whether the image is a vector drawing, which can be rendered at any size.
    var isDrawing = false

    /// The margin that is loaded around the visible part, as a share of the viewport: it stays sharp after a short scroll.
    private static let margin = 0.25

    var factor: Double {
        zoom ?? min(viewport.width / Double(image.width), viewport.height / Double(image.height))
    }

    /// The frame of the picture, centred where it is smaller than the viewport.
    var picture: Frame {
        let (width, height) = (length(image.width), length(image.height))
        return Frame(
            x: max(0, (viewport.width - width) / 2).rounded(.down),
            y: max(0, (viewport.height - height) / 2).rounded(.down), width: width, height: height)
    }

    /// The addend corrects the rounding error of a factor that is a quotient.
    private func length(_ pixels: Int) -> Double { max(1, (Double(pixels) * factor + 1e-6).rounded(.down)) }

    /// The units for each pixel of the image, across and down. They differ a little, since the picture has whole units.
    var scale: (x: Double, y: Double) {
        let picture = picture
        return (picture.width / Double(image.width), picture.height / Double(image.height))
    }

    /// The maximum number of decoded pixels across one pixel of the image: 1, since there are no more, or for a drawing as many
    /// as make 16 million for the whole.
    private var maximumDensity: Double {
        isDrawing ? max(1, (16_777_216 / (Double(image.width) * Double(image.height))).squareRoot()) : 1
    }

    /// Returns the part of the image that is visible at a scroll position; nil if none is.
    func region(at position: (x: Double, y: Double)) -> PixelRect? {
        region(
            span(position.x, viewport.width, picture.x, image.width, scale.x, margin: 0),
            span(position.y, viewport.height, picture.y, image.height, scale.y, margin: 0))
    }

    private func region(_ across: Range<Int>, _ down: Range<Int>) -> PixelRect? {
        guard !across.isEmpty, !down.isEmpty else { return nil }
        return PixelRect(x: across.lowerBound, y: down.lowerBound, width: across.count, height: down.count)
    }

    /// Returns the detail to load for a scroll position, with a margin around the visible part; nil if no part is visible.
    func detail(at position: (x: Double, y: Double)) -> Detail? {
        let region = region(
            span(position.x, viewport.width, picture.x, image.width, scale.x, margin: Self.margin),
            span(position.y, viewport.height, picture.y, image.height, scale.y, margin: Self.margin))
        guard let region else { return nil }
        return Detail(
            region: region,
            target: PixelSize(
                pixels(region.x, region.size.width, scale.x), pixels(region.y, region.size.height, scale.y)))
    }

    /// Returns the number of screen pixels between the two edges of a part, with each edge on a whole pixel.
    private func pixels(_ start: Int, _ length: Int, _ scale: Double) -> Int {
        let pixels = scale * Double(scaleFactor)
        guard pixels <= maximumDensity else { return max(1, Int((Double(length) * maximumDensity).rounded())) }
        return max(1, Int((Double(start + length) * pixels).rounded() - (Double(start) * pixels).rounded()))
    }

    /// Returns the range of image pixels from a position on, extended on both sides by a share of the length.
    private func span(
        _ position: Double, _ length: Double, _ origin: Double, _ side: Int, _ scale: Double, margin: Double
    ) -> Range<Int> {
        let spare = length * margin
        let first = Int(((position - spare - origin) / scale).rounded(.down))
        let last = Int(((position + length + spare - origin) / scale).rounded(.up))
        return max(0, first)..<max(0, first, min(side, last))
    }

    /// Returns the frame of a part of the image in the scrolled content.
    func frame(of region: PixelRect) -> Frame {
        let (across, down) = scale
        return Frame(
            x: picture.x + Double(region.x) * across, y: picture.y + Double(region.y) * down,
            width: Double(region.size.width) * across, height: Double(region.size.height) * down)
    }

    /// Whether a loaded detail covers all that is visible at a scroll position, with as many pixels as can be shown.
    func isEnough(_ detail: Detail, at position: (x: Double, y: Double)) -> Bool {
        let frame = frame(of: detail.region)
        let (right, bottom) = (picture.x + picture.width, picture.y + picture.height)
        let covers =
            frame.x <= max(position.x, picture.x) + 1 && frame.y <= max(position.y, picture.y) + 1
            && frame.x + frame.width >= min(position.x + viewport.width, right) - 1
            && frame.y + frame.height >= min(position.y + viewport.height, bottom) - 1
        return covers && isSharp(detail.target.width, of: detail.region.size.width, scale.x)
    }

    /// Whether a number of decoded pixels for a side of the image is as many as the screen shows at a scale.
    func isSharp(_ pixels: Int, of side: Int, _ scale: Double) -> Bool {
        let wanted = Double(side) * min(maximumDensity, scale * Double(scaleFactor))
        return Double(pixels) >= wanted * 0.95 - 1
    }
}
