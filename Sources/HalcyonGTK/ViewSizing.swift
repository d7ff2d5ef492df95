import Halcyon

/// At which size a view's images are loaded: that of the view in pixels of its screen, and again only where that has become
/// too small.
@MainActor final class ViewSizing {
    /// What is shown or loading, as it was asked for.
    struct Wish {
        var request: ImageRequest
        var options: ImageTarget.Options
        var pipeline: ImagePipeline
    }

    /// A size in pixels of the screen; nil before it is known.
    struct Box {
        var pixels: PixelSize?
    }

    /// How much larger than its image a view may grow before a larger one is loaded.
    private static let tolerance = 1.25

    private(set) var wish: Wish?
    /// The size whose pixels count, into which images are fitted, instead of that of the view; nil, the default, is the view.
    var box: Box?
    /// The size that `wish` was last loaded for; nil while it waits for a first layout, or asks for a size of its own.
    private var loaded: PixelSize?
    /// Pixels of the screen for one unit, at that time.
    private var factor = 1

    func begin(_ wish: Wish?) {
        self.wish = wish
        loaded = nil
    }

    /// Whether the load must wait for the view's first layout.
    func waits(for pixels: PixelSize?) -> Bool {
        guard let wish, wish.request.decode.target == nil else { return false }
        return pixels == nil
    }

    /// The pixels of the screen that images are loaded for; nil before they are known.
    func pixels(of host: ViewHost) -> PixelSize? { box.map(\.pixels) ?? host.pixels }

    /// The request for a view; for the smallest image that there is, while it has no size.
    func request(for host: ViewHost, fit: ContentFit) -> ImageRequest? {
        guard var request = wish?.request else { return nil }
        guard request.decode.target == nil else { return request }
        let pixels = pixels(of: host)
        (loaded, factor) = (pixels, host.scaleFactor)
        guard let pixels else { return request.ofAnySize }
        request.cache.acceptsLarger = true
        request.decode.target = Self.target(pixels, box == nil ? fit : .contain)
        return request
    }

    /// Pixels of an image for one unit of the view: one that was reduced to the view's pixels is as large as the view in its
    /// units, however many pixels the screen has for each.
    func scale(of image: Image) -> Double {
        let isReduced = loaded != nil && image.size != image.info.size
        return isReduced ? image.scale * Double(factor) : image.scale
    }

    private static func target(_ box: PixelSize, _ fit: ContentFit) -> TargetSize? {
        let isFree = (box.width == .max, box.height == .max)
        if isFree == (true, true) { return nil }
        if isFree != (false, false) { return TargetSize(box, mode: .fit) }
        switch fit {
        case .contain, .scaleDown: return TargetSize(box, mode: .fit)
        case .cover: return TargetSize(box, mode: .fill)
        case .fill:
            // As many pixels as the side needs that needs most.
            let side = max(box.width, box.height)
            return TargetSize(PixelSize(side, side), mode: .fit)
        }
    }

    /// Whether what was loaded is too small for a view of so many pixels, or cut for another shape.
    func isOutgrown(by pixels: PixelSize?, fit: ContentFit) -> Bool {
        guard let pixels, let loaded else { return false }
        let (across, down) = (
            Double(pixels.width) / Double(loaded.width), Double(pixels.height) / Double(loaded.height)
        )
        if max(across, down) > Self.tolerance { return true }
        return fit == .cover && max(across / down, down / across) > 1.01
    }
}
