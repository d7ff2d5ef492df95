import Halcyon

/// The layers of one widget: one image and one background for each of its states, of which one image and one background are
/// shown.
@MainActor final class ViewLayers<Key: Hashable> {
    /// A layer, held weakly if it is the view that holds this object.
    private struct Member {
        weak var layer: ImageLayer?
        var kept: ImageLayer?
    }

    private let host: ViewHost
    private var images: [Key: Member] = [:]
    private var backgrounds: [Key: Member] = [:]
    private let contentFit: ContentFit
    /// The layers that are shown; nil before there are any.
    private var chosen: (image: ObjectIdentifier?, background: ObjectIdentifier?)?

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
        host.onVisibilityChange = { [weak self] in self?.all.forEach { $0.visibilityChanged() } }
    }

    func image(_ key: Key) -> ImageLayer { layer(key, of: \.images) }

    func background(_ key: Key) -> ImageLayer { layer(key, of: \.backgrounds) }

    /// Adds the image layer that owns this object.
    func add(owner: ImageLayer, as key: Key) { add(Member(layer: owner), key, to: \.images) }

    private var all: [ImageLayer] { (Array(images.values) + backgrounds.values).compactMap(\.layer) }

    private func layer(
        _ key: Key, of layers: ReferenceWritableKeyPath<ViewLayers, [Key: Member]>
    ) -> ImageLayer {
        if let layer = self[keyPath: layers][key]?.layer { return layer }
        let layer = ImageLayer(host)
        add(Member(layer: layer, kept: layer), key, to: layers)
        return layer
    }

    private func add(_ member: Member, _ key: Key, to layers: ReferenceWritableKeyPath<ViewLayers, [Key: Member]>) {
        self[keyPath: layers][key] = member
        guard let layer = member.layer else { return }
        layer.contentFit = contentFit
        host.follow(with: layer.paintable)
        layer.onContent = { [weak self] in self?.choose() }
        choose()
    }

    private func choose() {
        let (image, background) = (nearest(images), nearest(backgrounds))
        for layer in all { layer.isActive = layer === image || layer === background }
        let paintable = image?.paintable ?? background?.paintable
        // Showing the same paintable again would cause a new layout and a redraw.
        let choice = (image: image.map(ObjectIdentifier.init), background: background.map(ObjectIdentifier.init))
        if let chosen, chosen == choice, host.isShowing(paintable) { return }
        chosen = choice
        image?.paintable.background = background?.paintable
        host.show(paintable)
    }

    private func nearest(_ layers: [Key: Member]) -> ImageLayer? {
        wanted.lazy.compactMap { layers[$0]?.layer }.first { !$0.isEmpty } ?? wanted.last.flatMap { layers[$0]?.layer }
    }
}
