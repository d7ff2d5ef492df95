import Halcyon

extension ImageRequest {
    /// What a view of a size asks for in the place of this, so that the image can be in memory before there is a view: for
    /// `ImageListPrefetcher`, and for views that are about to come.
    ///
    /// A request with a size of its own, by a target, a resize or a crop, is asked for as it is.
    ///
    /// - Parameters:
    ///   - width: units of the window, as `height`.
    ///   - scaleFactor: pixels of the screen for one unit, as `gtk_widget_get_scale_factor` says; 1 by default.
    ///   - contentFit: the view's; `.contain` by default, as theirs.
    ///   - pipeline: the view's; the shared one by default.
    @MainActor public func fitting(
        width: Int, height: Int, scaleFactor: Int = 1, contentFit: ContentFit = .contain,
        pipeline: ImagePipeline = .shared
    ) -> ImageRequest {
        let (across, down) = (
            max(1, width).multipliedReportingOverflow(by: max(1, scaleFactor)),
            max(1, height).multipliedReportingOverflow(by: max(1, scaleFactor))
        )
        let pixels = PixelSize(across.overflow ? .max : across.partialValue, down.overflow ? .max : down.partialValue)
        return ViewSizing.request(pipeline.configuration.defaults.applied(to: self), pixels, contentFit)
    }
}
