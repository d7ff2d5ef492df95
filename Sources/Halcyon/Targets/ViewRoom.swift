import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing

/// How an image fills its view.
public enum ContentFit: Sendable, Hashable, CaseIterable {
    /// As large as fits, all of it seen.
    case contain
    /// So large that the view is covered; what is beyond its edges is cut off.
    case cover
    /// Stretched to the view.
    case fill
    /// As `contain`, and never enlarged.
    case scaleDown
}

/// The room that a view has for an image, which tells at what size the image is loaded.
package struct ViewRoom: Sendable, Hashable {
    /// Pixels of the screen. A side that its parent makes as long as the image wants it is `Int.max`.
    package var pixels: PixelSize
    package var fit: ContentFit
    /// Pixels of the screen for one unit.
    package var scaleFactor: Int

    /// How much larger than its image a view may grow before a larger one is loaded.
    private static let tolerance = 1.25

    package init(pixels: PixelSize, fit: ContentFit, scaleFactor: Int) {
        self.pixels = pixels
        self.fit = fit
        self.scaleFactor = scaleFactor
    }

    private var isFree: (width: Bool, height: Bool) { (pixels.width == .max, pixels.height == .max) }

    /// The size at which a source is decoded for this room; nil is its own.
    func target(for source: ImageSource) -> TargetSize? {
        var target = target
        if source.isDrawing, fit != .scaleDown, isFree == (false, false) { target?.upscale = true }
        return target
    }

    private var target: TargetSize? {
        if isFree == (true, true) { return nil }
        if isFree != (false, false) { return TargetSize(pixels, mode: .fit) }
        switch fit {
        case .contain, .scaleDown: return TargetSize(pixels, mode: .fit)
        case .cover: return TargetSize(pixels, mode: .fill)
        case .fill:
            // As many pixels as the side needs that needs most.
            let side = max(pixels.width, pixels.height)
            return TargetSize(PixelSize(side, side), mode: .fit)
        }
    }

    /// Whether an image that was loaded for this room is too small for another one, or cut for another shape.
    func isOutgrown(by other: ViewRoom) -> Bool {
        if target?.mode != other.target?.mode { return true }
        let (across, down) = (
            Double(other.pixels.width) / Double(pixels.width), Double(other.pixels.height) / Double(pixels.height)
        )
        if max(across, down) > Self.tolerance { return true }
        return other.fit == .cover && max(across / down, down / across) > 1.01
    }

    /// Pixels of an image for one unit of the view: one that was reduced to the view's pixels is as large as the view in its
    /// units, however many pixels the screen has for each.
    func scale(of image: Image) -> Double {
        image.size == image.info.size ? image.scale : image.scale * Double(scaleFactor)
    }
}

extension ImageRequest {
    /// The request that a view of a size makes of this one, so that the image can be in memory before there is a view: for
    /// prefetchers, and for views that are about to come.
    ///
    /// A request with a size of its own, by a target, a resize or a crop, stays as it is.
    ///
    /// - Parameters:
    ///   - width: units of the window, as `height`.
    ///   - scaleFactor: pixels of the screen for one unit, as `gtk_widget_get_scale_factor` says; 1 by default.
    ///   - contentFit: the view's; `.contain` by default, as theirs.
    ///   - pipeline: the view's; the shared one by default.
    public func fitting(
        width: Int, height: Int, scaleFactor: Int = 1, contentFit: ContentFit = .contain,
        pipeline: ImagePipeline = .shared
    ) -> ImageRequest {
        let (across, down) = (
            max(1, width).multipliedReportingOverflow(by: max(1, scaleFactor)),
            max(1, height).multipliedReportingOverflow(by: max(1, scaleFactor))
        )
        let pixels = PixelSize(across.overflow ? .max : across.partialValue, down.overflow ? .max : down.partialValue)
        let request = pipeline.configuration.defaults.applied(to: self)
        guard !request.hasOwnSize else { return request }
        let room = ViewRoom(pixels: pixels, fit: contentFit, scaleFactor: scaleFactor)
        return request.resized(to: room.target(for: source))
    }

    /// Whether it says by itself how large the image is to be: a resize and a crop are in the image's own pixels.
    var hasOwnSize: Bool {
        decode.target != nil || processors.contains { $0 is ResizeProcessor || $0 is CropProcessor }
    }

    /// The same at another size, or larger where memory has that.
    func resized(to target: TargetSize?) -> ImageRequest {
        var request = self
        request.cache.acceptsLarger = true
        request.decode.target = target
        return request
    }
}

extension TargetSize {
    /// That of the smallest image that will do, where any larger one is accepted.
    static let any = TargetSize(PixelSize(1, 1))
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
