import CGTK
import Halcyon

// The picture that is zoomed, and the detail that is loaded for its visible part.
extension ZoomView {
    func contentChanged() {
        let former = shownImage
        shownImage = nil
        if case .image(let response) = view.content, let subject = view.target.shown {
            shownImage = (response, subject)
        }
        pictureSize = sizeOfPicture
        let isSameImage = former?.response.image.info == shownImage?.response.image.info
        if view.target.purpose == .anotherSize, shownImage != nil, isSameImage {
            // The same image for another size of the window: the detail is as sharp as before.
            if let shownDetail, let detailTexture { show(detailTexture, for: shownDetail) }
        } else {
            dropDetail()
            if former != nil, shownImage?.response.source != former?.response.source { centerPixel = nil }
        }
        arrange()
        onChange?()
    }

    private var sizeOfPicture: PixelSize? {
        switch view.content {
        case .image(let response):
            let subject = shownImage?.subject ?? view.target.subject
            guard let request = subject?.request, request.processors.isEmpty, request.decode.region == nil else {
                return response.image.size
            }
            return Self.size(of: response.image)
        case .preview(let preview): return Self.size(of: preview.image)
        case .own(let image): return image.size
        case .nothing, .placeholder, .failure: return nil
        }
    }

    /// Returns the size of the file if the image is the whole of it at a reduced size, else that of the image.
    private static func size(of image: Image) -> PixelSize {
        let (whole, size) = (image.info.size, image.size)
        let difference = abs(Double(whole.width) * Double(size.height) - Double(whole.height) * Double(size.width))
        return difference <= Double(max(whole.width, whole.height)) ? whole : size
    }

    func isSharp(_ image: Image, _ plan: ZoomPlan) -> Bool {
        let isWide = plan.image.width >= plan.image.height
        return isWide
            ? plan.isSharp(image.width, of: plan.image.width, plan.scale.x)
            : plan.isSharp(image.height, of: plan.image.height, plan.scale.y)
    }

    /// Schedules `sharpen()` after a tenth of a second without further calls.
    func scheduleSharpening() {
        sharpeningTimer.start(after: .milliseconds(100)) { [weak self] in self?.sharpen() }
    }

    /// Loads a detail for the visible part if the whole image is not sharp enough.
    private func sharpen() {
        guard gtk_widget_get_mapped(widget) != 0, let plan, let shownImage else { return }
        guard canLoadDetails(shownImage.response, shownImage.subject.modified),
            !isSharp(shownImage.response.image, plan)
        else {
            return dropDetail()
        }
        if let shownDetail, plan.isEnough(shownDetail, at: scrollPosition) {
            requestedDetail = nil
            detail?.cancel()
            return
        }
        // The whole image is about to be loaded for the current size of the window.
        if storedZoom == nil, view.target.isOutgrown { return }
        if let requestedDetail, plan.isEnough(requestedDetail, at: scrollPosition) { return }
        guard let wanted = plan.detail(at: scrollPosition) else { return }
        requestedDetail = wanted
        detail?.priority = view.priority
        let request = request(for: wanted, of: shownImage.subject.request)
        let pipeline = shownImage.subject.pipeline
        detail?.setImage(request, options: .init(keepsCurrent: true), pipeline: pipeline) { [weak self] end in
            switch end {
            // A failed detail is tried again when scrolling rests the next time.
            case .failed, .cancelled: if self?.requestedDetail == wanted { self?.requestedDetail = nil }
            case .shown, .superseded: break
            }
        }
    }

    private func request(for wanted: ZoomPlan.Detail, of whole: ImageRequest) -> ImageRequest {
        var request = whole
        request.decode.region = wanted.region
        request.decode.target = TargetSize(wanted.target, mode: .stretch, upscale: true)
        (request.wantsPreviews, request.wantsEveryPreview) = (false, false)
        // A part of another picture would not match this one.
        (request.alternatives, request.lowDataAlternative) = ([], nil)
        // This very part is hardly requested again: it must not evict other entries. The bytes come from the original that the
        // whole image was decoded from.
        request.cachePolicy.reads.formUnion(request.cachePolicy.writes.intersection(.diskOriginal))
        request.cachePolicy.writes.subtract([.memory, .memoryOriginal, .diskProcessed])
        request.cachePolicy.readsDiskSynchronously = false
        return request
    }

    /// Whether a separately decoded part of the image looks as it does in the whole image.
    private func canLoadDetails(_ response: ImageResponse, _ request: ImageRequest) -> Bool {
        view.player == nil && request.processors.isEmpty && request.modifier == nil
            && request.decode.target == nil && request.decode.region == nil && request.decode.maximumBytes == nil
            && response.source == response.requestedSource
    }

    /// Shows a detail that has been loaded, before anything else is drawn.
    func arrived(_ content: ImageTarget.Content) {
        guard case .image(let response) = content, let requestedDetail, let shownImage else { return }
        // The file may have changed since: its parts would not match the picture.
        guard response.source == shownImage.response.source,
            response.image.info == shownImage.response.image.info
        else { return }
        let texture = ImageTexture(response.image.bitmap)
        (shownDetail, detailTexture, self.requestedDetail) = (requestedDetail, texture, nil)
        show(texture, for: requestedDetail)
        // The view may have been scrolled further meanwhile.
        scheduleSharpening()
        onChange?()
    }

    private func show(_ texture: ImageTexture, for part: ZoomPlan.Detail) {
        guard let pictureSize else { return }
        let (across, down) = (1 / Float(pictureSize.width), 1 / Float(pictureSize.height))
        view.paintable.showDetail(
            texture,
            in: graphene_rect_t(
                origin: graphene_point_t(x: Float(part.region.x) * across, y: Float(part.region.y) * down),
                size: graphene_size_t(
                    width: Float(part.region.size.width) * across, height: Float(part.region.size.height) * down)))
    }

    private func dropDetail() {
        requestedDetail = nil
        detail?.clear()
        guard shownDetail != nil else { return }
        (shownDetail, detailTexture) = (nil, nil)
        view.paintable.showDetail(nil)
    }
}
