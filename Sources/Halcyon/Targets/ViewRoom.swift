import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing

/// The way in which an image fills its view.
public enum ContentFit: Sendable, Hashable, CaseIterable {
    /// Scaled to the largest size at which all of the image is visible.
    case contain
    /// Scaled to cover the view; the parts beyond its edges are cut off.
    case cover
    /// Stretched to the view.
    case fill
    /// Like `contain`, but never enlarged.
    case scaleDown
}

/// The room that a view has for an image, which determines the size at which the image is loaded.
package struct ViewRoom: Sendable, Hashable {
    /// The size in pixels of the screen. A side that the parent makes as long as the image needs is `Int.max`.
    package var pixels: PixelSize
    package var fit: ContentFit
    /// The number of screen pixels for one unit.
    package var scaleFactor: Int

    /// The factor by which a view may outgrow its image before a larger one is loaded.
    private static let tolerance = 1.25

    package init(pixels: PixelSize, fit: ContentFit, scaleFactor: Int) {
        self.pixels = pixels
        self.fit = fit
        self.scaleFactor = scaleFactor
    }

    private var isFree: (width: Bool, height: Bool) { (pixels.width == .max, pixels.height == .max) }

    /// Returns the size at which a source is decoded for this room; nil is the source's own.
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
            // The longer side of the room determines the number of pixels.
            let side = max(pixels.width, pixels.height)
            return TargetSize(PixelSize(side, side), mode: .fit)
        }
    }

    /// Returns whether an image that was loaded for this room is too small for another one, or cropped for another
    /// shape.
    func isOutgrown(by other: ViewRoom) -> Bool {
        if target?.mode != other.target?.mode { return true }
        let (across, down) = (
            Double(other.pixels.width) / Double(pixels.width), Double(other.pixels.height) / Double(pixels.height)
        )
        if max(across, down) > Self.tolerance { return true }
        return other.fit == .cover && max(across / down, down / across) > 1.01
    }

    /// Returns the number of an image's pixels for one unit of the view. An image that was reduced to the view's pixels
    /// is as large as the view in units, however many pixels the screen has for each.
    func scale(of image: Image) -> Double {
        image.size == image.info.size ? image.scale : image.scale * Double(scaleFactor)
    }
}

extension ImageRequest {
    /// Returns the request that a view of the given size makes from this one, so that the image can be in memory before
    /// there is a view: for prefetchers, and for views that are about to appear.
    ///
    /// A request with a size of its own, by a target, a resize or a crop, is returned as it is.
    ///
    /// - Parameters:
    ///   - width: the width in units of the window; `height` likewise.
    ///   - scaleFactor: the number of screen pixels for one unit, as `gtk_widget_get_scale_factor` returns it; 1 by
    ///     default.
    ///   - contentFit: the view's; `.contain` by default, which is also the views' default.
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

    /// Whether the request itself determines the size of the image: a resize and a crop are in the image's own pixels.
    var hasOwnSize: Bool {
        decode.target != nil || processors.contains { $0 is ResizeProcessor || $0 is CropProcessor }
    }

    /// Returns the request at another size, which also accepts a larger image from memory.
    func resized(to target: TargetSize?) -> ImageRequest {
        var request = self
        request.cachePolicy.acceptsLarger = true
        request.decode.target = target
        return request
    }
}

extension TargetSize {
    /// The smallest target size, for requests that accept any larger image.
    static let any = TargetSize(PixelSize(1, 1))
}

extension ImageSource {
    /// Whether the source is a vector drawing, according to its name. A drawing is as sharp as the view's pixels allow,
    /// whatever size it declares.
    fileprivate var isDrawing: Bool {
        switch self {
        case .remote(let url), .file(let url): ["svg", "svgz"].contains(url.pathExtension.lowercased())
        default: false
        }
    }
}

// MARK: - The room of the surface

extension ImageTarget {
    /// Begins a load that waits for a room, and renews an image that has become too small. Called after a change of
    /// `SizedImageSurface.room`.
    package func roomChanged() {
        if let load, load.isWaiting {
            if sizedSurface?.room != nil { begin(load) }
        } else if isOutgrown {
            scheduleRenewal()
        } else {
            cancelRenewal()
        }
    }

    /// Whether the image that was loaded last is too small for the present room, or cropped for another shape.
    package var isOutgrown: Bool {
        guard let room = sizedSurface?.room, let former = subject?.room else { return false }
        return former.isOutgrown(by: room)
    }

    /// Returns the number of an image's pixels for one unit of the surface, as long as the image is shown for the
    /// current load.
    package func scale(of image: Image) -> Double { subject?.room?.scale(of: image) ?? image.scale }

    /// Renews the image after 200 ms without another call, so that it is not renewed at each step of a resize.
    func scheduleRenewal() {
        cancelRenewal()
        renewal = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(200))
            guard !Task.isCancelled, let self else { return }
            // The next cancellation must not affect the load that begins here.
            renewal = nil
            renew()
        }
    }

    /// Cancels a renewal that is about to begin.
    func cancelRenewal() {
        renewal?.cancel()
        renewal = nil
    }

    /// Loads the shown image again for the present room, if that has outgrown it. The load and its failure are not
    /// reported, and the content stays until the new image is there.
    package func renew() {
        // A load that is under way is not interrupted for a larger image.
        if case .loading = state { return scheduleRenewal() }
        guard let subject, let shown, subject.isSame(as: shown), isOutgrown, !hasAllPixels else { return }
        self.subject?.fit(nil)
        begin(Load(.anotherSize, subject.options))
    }

    /// Whether the shown image has all of its pixels, so that no other size has more.
    private var hasAllPixels: Bool {
        guard case .image(let response) = content else { return false }
        return response.image.size == response.image.info.size && !response.image.info.isVector
    }
}
