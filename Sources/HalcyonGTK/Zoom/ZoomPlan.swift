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

    /// What would be sharp around a place of the viewport.
    func detail(at place: (x: Double, y: Double)) -> Detail? {
        let seen = span(place.x, viewport.width, picture.x, image.width)
        let down = span(place.y, viewport.height, picture.y, image.height)
        guard !seen.isEmpty, !down.isEmpty else { return nil }
        let region = PixelRect(x: seen.lowerBound, y: down.lowerBound, width: seen.count, height: down.count)
        // Not more pixels than there are.
        let pixels = min(1, factor * Double(scaleFactor))
        return Detail(
            region: region,
            target: PixelSize(
                max(1, Int((Double(region.size.width) * pixels).rounded())),
                max(1, Int((Double(region.size.height) * pixels).rounded()))))
    }

    /// The pixels of the image from a place on, with some beyond.
    private func span(_ place: Double, _ length: Double, _ origin: Double, _ side: Int) -> Range<Int> {
        let spare = length * Self.margin
        let first = Int(((place - spare - origin) / factor).rounded(.down))
        let last = Int(((place + length + spare - origin) / factor).rounded(.up))
        let range = max(0, first)..<max(0, first, min(side, last))
        return range
    }

    /// Where a part of the image is seen.
    func frame(of region: PixelRect) -> Frame {
        Frame(
            x: picture.x + Double(region.x) * factor, y: picture.y + Double(region.y) * factor,
            width: Double(region.size.width) * factor, height: Double(region.size.height) * factor)
    }

    /// Whether a part that is loaded is as sharp as can be for all that is seen at a place.
    func isEnough(_ detail: Detail, at place: (x: Double, y: Double)) -> Bool {
        let frame = frame(of: detail.region)
        let (right, bottom) = (picture.x + picture.width, picture.y + picture.height)
        let covers =
            frame.x <= max(place.x, picture.x) + 1 && frame.y <= max(place.y, picture.y) + 1
            && frame.x + frame.width >= min(place.x + viewport.width, right) - 1
            && frame.y + frame.height >= min(place.y + viewport.height, bottom) - 1
        return covers && isSharp(detail.target.width, of: detail.region.size.width)
    }

    /// Whether so many pixels for so many of the image are as many as the screen shows.
    func isSharp(_ pixels: Int, of side: Int) -> Bool {
        let wanted = min(Double(side), Double(side) * factor * Double(scaleFactor))
        return Double(pixels) >= wanted * 0.95 - 1
    }
}
