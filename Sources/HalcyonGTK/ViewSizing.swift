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

    /// How much larger than its image a view may grow before a larger one is loaded.
    private static let tolerance = 1.25

    /// What `wish` was last loaded for.
    struct Load {
        var pixels: PixelSize
        var fit: ContentFit
        /// Pixels of the screen for one unit.
        var factor: Int
    }

    private(set) var wish: Wish?
    /// Nil while `wish` waits for a first layout, or asks for a size of its own.
    private var loaded: Load?
    /// Whether `loaded` is good enough for the next load too.
    private var keepsLoaded = false
    /// That of the image that is seen, which another load may be about to take the place of.
    private(set) var shown: (wish: Wish, loaded: Load?)?

    /// - Parameter keepingSize: whether an image of the size that was loaded last will do.
    func begin(_ wish: Wish?, keepingSize: Bool = false) {
        self.wish = wish
        keepsLoaded = keepingSize && loaded != nil
        if !keepsLoaded { loaded = nil }
    }

    /// Something is seen now: the image of the wish, or what has no source.
    func hasShown(_ source: ImageSource?) { shown = source == nil ? nil : wish.map { ($0, loaded) } }

    /// The load was called off: the wish is that of the image that is seen.
    func revert() {
        keepsLoaded = false
        if let shown { (wish, loaded) = shown }
    }

    /// Whether a request is for what was asked for already, whatever its size.
    func isSame(_ request: ImageRequest, _ pipeline: ImagePipeline) -> Bool { isSame(wish, request, pipeline) }

    /// Whether a request is for what is seen, whatever its size, and nothing of it is to be asked for anew.
    func isShown(_ request: ImageRequest, _ pipeline: ImagePipeline) -> Bool {
        isSame(shown?.wish, request, pipeline) && !request.cache.reads.isEmpty && request.modifier == nil
            && shown?.wish.request.modifier == nil && shown?.wish.request.scale == request.scale
    }

    /// Whether what is seen is what was asked for last, at whatever size.
    var isWishShown: Bool { wish.map { isSame(shown?.wish, $0.request, $0.pipeline) } ?? false }

    private func isSame(_ wish: Wish?, _ request: ImageRequest, _ pipeline: ImagePipeline) -> Bool {
        guard let wish, wish.pipeline === pipeline else { return false }
        return pipeline.key(for: wish.request) == pipeline.key(for: request)
    }

    /// Whether the load must wait for the view's first layout.
    func waits(for pixels: PixelSize?) -> Bool {
        guard let wish, !Self.hasOwnSize(wish.request), !keepsLoaded else { return false }
        return pixels == nil
    }

    /// Whether it says by itself how large the image is to be: a resize and a crop are in the image's own pixels.
    private static func hasOwnSize(_ request: ImageRequest) -> Bool {
        request.decode.target != nil || request.processors.contains { $0 is ResizeProcessor || $0 is CropProcessor }
    }

    /// The request for a view; for the smallest image that there is, while it has no size.
    func request(for host: ViewHost, fit: ContentFit) -> ImageRequest? {
        guard let request = wish?.request else { return nil }
        guard !Self.hasOwnSize(request) else { return request }
        if keepsLoaded {
            keepsLoaded = false
        } else {
            loaded = host.pixels.map { Load(pixels: $0, fit: fit, factor: host.scaleFactor) }
        }
        guard let loaded else { return request.ofAnySize }
        return Self.request(request, loaded.pixels, loaded.fit)
    }

    /// A request for a view of so many pixels; one that has a size of its own as it is.
    static func request(_ request: ImageRequest, _ pixels: PixelSize, _ fit: ContentFit) -> ImageRequest {
        guard !hasOwnSize(request) else { return request }
        var request = request
        request.cache.acceptsLarger = true
        request.decode.target = target(pixels, fit)
        if request.source.isDrawing, fit != .scaleDown, pixels.width != .max, pixels.height != .max {
            request.decode.target?.upscale = true
        }
        return request
    }

    /// Pixels of an image for one unit of the view: one that was reduced to the view's pixels is as large as the view in its
    /// units, however many pixels the screen has for each.
    func scale(of image: Image) -> Double {
        guard let loaded, image.size != image.info.size else { return image.scale }
        return image.scale * Double(loaded.factor)
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
        if Self.target(pixels, fit)?.mode != Self.target(loaded.pixels, loaded.fit)?.mode { return true }
        let (across, down) = (
            Double(pixels.width) / Double(loaded.pixels.width), Double(pixels.height) / Double(loaded.pixels.height)
        )
        if max(across, down) > Self.tolerance { return true }
        return fit == .cover && max(across / down, down / across) > 1.01
    }
}

extension ImageSource {
    /// By its name: a drawing is as sharp as the view has pixels, whatever size it says it has.
    fileprivate var isDrawing: Bool {
        switch self {
        case .remote(let url), .file(let url): ["svg", "svgz"].contains(url.pathExtension.lowercased())
        default: false
        }
    }
}
