import CGTK
import Halcyon

// The image that is seen, and the part of it that is loaded by itself.
extension ZoomView {
    func contentChanged(_ layer: ImageLayer) {
        guard layer === view.image else { return }
        let former = seen
        seen = nil
        if case .image(let response) = view.content, let subject = view.image.target.shown {
            seen = (response, subject)
        }
        pictureSize = sizeOfPicture
        if layer.target.purpose == .anotherSize, seen != nil, former?.response.image.info == seen?.response.image.info {
            // The same for another size of the window: the part is as sharp as it was.
            if let shown, let texture { show(texture, for: shown) }
        } else {
            dropPart()
            if former != nil, seen?.response.source != former?.response.source { middle = nil }
        }
        arrange()
        onChange?()
    }

    private var sizeOfPicture: PixelSize? {
        switch view.content {
        case .image(let response):
            let subject = seen?.subject ?? view.image.target.subject
            guard let request = subject?.request, request.processors.isEmpty, request.decode.region == nil else {
                return response.image.size
            }
            return Self.size(of: response.image)
        case .preview(let preview): return Self.size(of: preview.image)
        case .own(let image): return image.size
        case .nothing, .placeholder, .failure: return nil
        }
    }

    /// That of the file, where the image is the whole of it, reduced.
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

    /// Sharpens what is seen, once that has rested.
    func rest() {
        resting.start(after: .milliseconds(100)) { [weak self] in self?.sharpen() }
    }

    /// Loads the part that is seen, where the whole is not sharp enough.
    private func sharpen() {
        guard gtk_widget_get_mapped(widget) != 0, let plan, let seen else { return }
        guard hasParts(seen.response, seen.subject.modified), !isSharp(seen.response.image, plan) else {
            return dropPart()
        }
        if let shown, plan.isEnough(shown, at: place) {
            asked = nil
            detail?.cancel()
            return
        }
        // The whole is about to be loaded for the size that the window has now.
        if chosen == nil, view.image.target.isOutgrown { return }
        if let asked, plan.isEnough(asked, at: place) { return }
        guard let wanted = plan.detail(at: place) else { return }
        asked = wanted
        detail?.priority = view.priority
        let request = request(for: wanted, of: seen.subject.request)
        let pipeline = seen.subject.pipeline
        detail?.setImage(request, options: .init(keepsCurrent: true), pipeline: pipeline) { [weak self] end in
            switch end {
            // Once more where it rests the next time.
            case .failed, .cancelled: if self?.asked == wanted { self?.asked = nil }
            case .shown, .superseded: break
            }
        }
    }

    private func request(for wanted: ZoomPlan.Detail, of whole: ImageRequest) -> ImageRequest {
        var request = whole
        request.decode.region = wanted.region
        request.decode.target = TargetSize(wanted.target, mode: .stretch, upscale: true)
        (request.wantsPreviews, request.wantsEveryPreview) = (false, false)
        // A part of another picture has no place in this one.
        (request.alternatives, request.lowDataAlternative) = ([], nil)
        // Just this part is hardly asked for again: it is to drive nothing out. The bytes are those that the whole was made of.
        request.cache.reads.formUnion(request.cache.writes.intersection(.diskOriginal))
        request.cache.writes.subtract([.memory, .memoryOriginal, .diskProcessed])
        request.cache.readsDiskSynchronously = false
        return request
    }

    /// Whether a part of the image looks as it does in the whole.
    private func hasParts(_ response: ImageResponse, _ request: ImageRequest) -> Bool {
        view.player == nil && request.processors.isEmpty && request.modifier == nil
            && request.decode.target == nil && request.decode.region == nil && request.decode.maximumBytes == nil
            && response.source == response.originalSource
    }

    /// The part is there, and takes its place before anything else is drawn.
    func arrived(_ content: ImageTarget.Content) {
        guard case .image(let response) = content, let asked, let seen else { return }
        // The file may be another one by now: its parts are not of what is seen.
        guard response.source == seen.response.source, response.image.info == seen.response.image.info else { return }
        let texture = ImageTexture(response.image.bitmap)
        (shown, self.texture, self.asked) = (asked, texture, nil)
        show(texture, for: asked)
        // It may have been scrolled on meanwhile.
        rest()
        onChange?()
    }

    private func show(_ texture: ImageTexture, for part: ZoomPlan.Detail) {
        guard let pictureSize else { return }
        let (across, down) = (1 / Float(pictureSize.width), 1 / Float(pictureSize.height))
        view.image.paintable.showDetail(
            texture,
            at: graphene_rect_t(
                origin: graphene_point_t(x: Float(part.region.x) * across, y: Float(part.region.y) * down),
                size: graphene_size_t(
                    width: Float(part.region.size.width) * across, height: Float(part.region.size.height) * down)))
    }

    private func dropPart() {
        asked = nil
        detail?.clear()
        guard shown != nil else { return }
        (shown, texture) = (nil, nil)
        view.image.paintable.showDetail(nil)
    }
}
