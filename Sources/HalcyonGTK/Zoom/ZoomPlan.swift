import Halcyon

/// Where a picture and the part of it that is seen sharply are, in a viewport that shows a part of them.
///
/// Lengths are units of the window, and places count from the top left of what is scrolled.
struct ZoomPlan {
    struct Frame: Equatable {
        var (x, y, width, height): (Double, Double, Double, Double)
    }

    /// What is loaded for the part that is seen.
    struct Detail: Equatable {
        /// In pixels of the image.
        var region: PixelRect
        /// In pixels of the screen.
        var target: PixelSize
    }

    /// Of the viewport.
    var viewport: (width: Double, height: Double)
    /// Of the whole image.
    var image: PixelSize
    /// Units for each pixel of the image; nil is as many as fit the whole image into the viewport.
    var zoom: Double?
    /// Pixels of the screen for one unit.
    var scaleFactor = 1
    /// It has as many pixels as it is drawn with.
    var isDrawing = false

    /// How far beyond what is seen a part is loaded, as a share of the viewport: what is scrolled a little stays sharp.
    private static let margin = 0.25

    var factor: Double {
        zoom ?? min(viewport.width / Double(image.width), viewport.height / Double(image.height))
    }

    /// The picture, in the middle where it is smaller than the viewport.
    var picture: Frame {
        let (width, height) = (length(image.width), length(image.height))
        return Frame(
            x: max(0, (viewport.width - width) / 2).rounded(.down),
            y: max(0, (viewport.height - height) / 2).rounded(.down), width: width, height: height)
    }

    /// The product is a little off where the factor is a quotient.
    private func length(_ pixels: Int) -> Double { max(1, (Double(pixels) * factor + 1e-6).rounded(.down)) }

    /// Units for each pixel of the image, across and down: the picture has whole units.
    var scale: (x: Double, y: Double) {
        let picture = picture
        return (picture.width / Double(image.width), picture.height / Double(image.height))
    }

    /// Pixels for each pixel of the image, at most: not more than there are, and of a drawing not more than 16 million.
    private var mostPixels: Double {
        isDrawing ? max(1, (16_777_216 / (Double(image.width) * Double(image.height))).squareRoot()) : 1
    }

    /// The part of the image that is seen at a place.
    func region(at place: (x: Double, y: Double)) -> PixelRect? {
        region(
            span(place.x, viewport.width, picture.x, image.width, scale.x, margin: 0),
            span(place.y, viewport.height, picture.y, image.height, scale.y, margin: 0))
    }

    private func region(_ across: Range<Int>, _ down: Range<Int>) -> PixelRect? {
        guard !across.isEmpty, !down.isEmpty else { return nil }
        return PixelRect(x: across.lowerBound, y: down.lowerBound, width: across.count, height: down.count)
    }

    /// What would be sharp around a place of the viewport.
    func detail(at place: (x: Double, y: Double)) -> Detail? {
        let region = region(
            span(place.x, viewport.width, picture.x, image.width, scale.x, margin: Self.margin),
            span(place.y, viewport.height, picture.y, image.height, scale.y, margin: Self.margin))
        guard let region else { return nil }
        return Detail(
            region: region,
            target: PixelSize(
                pixels(region.x, region.size.width, scale.x), pixels(region.y, region.size.height, scale.y)))
    }

    /// Those of the screen between the two sides of a part, each side on a whole one.
    private func pixels(_ start: Int, _ length: Int, _ scale: Double) -> Int {
        let pixels = scale * Double(scaleFactor)
        guard pixels <= mostPixels else { return max(1, Int((Double(length) * mostPixels).rounded())) }
        return max(1, Int((Double(start + length) * pixels).rounded() - (Double(start) * pixels).rounded()))
    }

    /// The pixels of the image from a place on, with a share of the length beyond.
    private func span(
        _ place: Double, _ length: Double, _ origin: Double, _ side: Int, _ scale: Double, margin: Double
    ) -> Range<Int> {
        let spare = length * margin
        let first = Int(((place - spare - origin) / scale).rounded(.down))
        let last = Int(((place + length + spare - origin) / scale).rounded(.up))
        return max(0, first)..<max(0, first, min(side, last))
    }

    /// Where a part of the image is seen.
    func frame(of region: PixelRect) -> Frame {
        let (across, down) = scale
        return Frame(
            x: picture.x + Double(region.x) * across, y: picture.y + Double(region.y) * down,
            width: Double(region.size.width) * across, height: Double(region.size.height) * down)
    }

    /// Whether a part that is loaded is as sharp as can be for all that is seen at a place.
    func isEnough(_ detail: Detail, at place: (x: Double, y: Double)) -> Bool {
        let frame = frame(of: detail.region)
        let (right, bottom) = (picture.x + picture.width, picture.y + picture.height)
        let covers =
            frame.x <= max(place.x, picture.x) + 1 && frame.y <= max(place.y, picture.y) + 1
            && frame.x + frame.width >= min(place.x + viewport.width, right) - 1
            && frame.y + frame.height >= min(place.y + viewport.height, bottom) - 1
        return covers && isSharp(detail.target.width, of: detail.region.size.width, scale.x)
    }

    /// Whether so many pixels for so many of the image are as many as the screen shows, at a scale.
    func isSharp(_ pixels: Int, of side: Int, _ scale: Double) -> Bool {
        let wanted = Double(side) * min(mostPixels, scale * Double(scaleFactor))
        return Double(pixels) >= wanted * 0.95 - 1
    }
}
