import Halcyon

/// The layers of one widget: one image and one background for each of its states, of which one image and one background are
/// shown.
@MainActor final class ViewLayers<Key: Hashable> {
    let host: ViewHost
    private var images: [Key: ImageLayer] = [:]
    private var backgrounds: [Key: ImageLayer] = [:]
    private let contentFit: ContentFit
    /// Called when the content of one of the layers changes.
    var onContent: (@MainActor (ImageLayer) -> Void)?
    /// The layers that are shown; nil before there are any.
    private var chosen: (image: ImageLayer?, background: ImageLayer?)?

    /// The states whose layers are searched for content, the first with the highest precedence; if none has content, the layer
    /// of the last state is shown.
    var wanted: [Key] {
        didSet { if wanted != oldValue { choose() } }
    }

    init(_ host: ViewHost, wanted: [Key], contentFit: ContentFit = .contain) {
        self.host = host
        self.wanted = wanted
        self.contentFit = contentFit
        host.onResize = { [weak self] in self?.all.forEach { $0.target.roomChanged() } }
        host.onSeen = { [weak self] in self?.all.forEach { $0.sightChanged() } }
    }

    func image(_ key: Key) -> ImageLayer { layer(key, of: \.images) }

    func background(_ key: Key) -> ImageLayer { layer(key, of: \.backgrounds) }

    private var all: [ImageLayer] { Array(images.values) + backgrounds.values }

    private func layer(
        _ key: Key, of layers: ReferenceWritableKeyPath<ViewLayers, [Key: ImageLayer]>
    ) -> ImageLayer {
        if let layer = self[keyPath: layers][key] { return layer }
        let layer = ImageLayer(host)
        layer.contentFit = contentFit
        host.follow(with: layer.paintable)
        layer.onContent = { [weak self, weak layer] in
            self?.choose()
            if let layer { self?.onContent?(layer) }
        }
        self[keyPath: layers][key] = layer
        choose()
        return layer
    }

    private func choose() {
        let (image, background) = (nearest(images), nearest(backgrounds))
        for layer in all { layer.isActive = layer === image || layer === background }
        let paintable = image?.paintable ?? background?.paintable
        // Showing the same paintable again would cause a new layout and a redraw.
        if let chosen, chosen.image === image, chosen.background === background, host.isShowing(paintable) { return }
        chosen = (image, background)
        image?.paintable.background = background?.paintable
        host.show(paintable)
    }

    private func nearest(_ layers: [Key: ImageLayer]) -> ImageLayer? {
        wanted.lazy.compactMap { layers[$0] }.first { !$0.isEmpty } ?? wanted.last.flatMap { layers[$0] }
    }
}
