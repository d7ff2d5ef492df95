import CGTK
import Halcyon

// Shows the content of the layer's target.
extension ImageLayer: ImageSurface {
    public func show(_ content: ImageTarget.Content) {
        contentCount += 1
        host.setStandIn(target.hasStandIn, for: self)
        let former = takeTransition()
        showPlaceholder(content)
        if !continueAnimation(with: content) {
            paintable.show(picture(content))
            play(content, drawsFormer: true)
        }
        contentChanged()
        former?.end()
    }

    public func show(
        _ response: ImageResponse, by transition: ImageTransition, completion: @escaping @MainActor () -> Void
    ) {
        // An animation that plays while it is being downloaded continues with the missing frames. A picture that is larger than
        // its window would have to be drawn as a whole for a transition.
        guard isShown, host.isAnimationEnabled, host.box?.isLarger != true, arriving(.image(response)) == nil else {
            show(.image(response))
            return completion()
        }
        contentCount += 1
        let (count, former) = (contentCount, takeTransition())
        showPlaceholder(.image(response))
        if let picture = picture(.image(response)) { paintable.begin(picture, transition.style) }
        play(.image(response), drawsFormer: false)
        contentChanged()
        former?.end()
        // The completion of the former transition may have shown another image.
        guard count == contentCount else { return completion() }
        let run = TransitionRun(transition, of: self, completion: completion)
        self.transition = run
        run.prepare()
        ticks?.start()
    }

    public func stateChanged(_ state: ImageTarget.State) {
        let isLoading = if case .loading = state { true } else { false }
        host.setStandIn(target.hasStandIn, for: self)
        host.setBusy(isLoading)
        if case .loading(let progress) = state {
            showIndicator(progress?.fraction, hasBegun: progress != nil)
        } else {
            removeIndicator()
        }
        watchVisibility()
        onStateChange?(state)
    }

    /// Has the host watch the view's position, which is needed while an animation plays or a load runs.
    func watchVisibility() { host.setWatched(player != nil || target.isLoading, for: self) }

    private func picture(_ content: ImageTarget.Content) -> ImagePaintable.Picture? {
        content.image.map { ImagePaintable.Picture($0, scale: target.scale(of: $0)) }
    }

    private func showPlaceholder(_ content: ImageTarget.Content) {
        if let placeholder {
            host.remove(placeholder)
            self.placeholder = nil
        }
        guard case .placeholder(.custom(let custom)) = content, let custom = custom as? WidgetPlaceholder else {
            return
        }
        placeholder = host.lay(custom.make)
    }

    private func showIndicator(_ progress: Double?, hasBegun: Bool) {
        // A new load has begun: the indicator belongs to the former one.
        if !hasBegun { removeIndicator() }
        if indicator == nil, let kind = loadingIndicator {
            indicator = host.lay(kind.makePlaced).map { (kind, $0) }
        }
        if hasBegun, let indicator { indicator.kind.update(indicator.widget, progress) }
    }

    private func removeIndicator() {
        guard let indicator else { return }
        self.indicator = nil
        host.remove(indicator.widget)
    }

    private func takeTransition() -> TransitionRun? {
        let transition = transition
        self.transition = nil
        return transition
    }

    /// Ends the transition at once, at its last frame.
    func endTransition() {
        guard let run = takeTransition() else { return }
        paintable.progress = 1
        run.end()
    }
}

/// One transition of a layer, from its first frame to its last.
@MainActor final class TransitionRun {
    private let transition: ImageTransition
    private weak var layer: ImageLayer?
    private let completion: @MainActor () -> Void
    private var start: Duration?
    private var isOver = false

    init(_ transition: ImageTransition, of layer: ImageLayer, completion: @escaping @MainActor () -> Void) {
        self.transition = transition
        self.layer = layer
        self.completion = completion
    }

    /// Prepares a custom animator before the first frame.
    func prepare() {
        if let layer, case .custom(let animator) = transition.style { animator.prepare(layer) }
    }

    /// - Returns: whether further frames are needed.
    func advance(to time: Duration) -> Bool {
        guard !isOver, let layer else { return false }
        let start = start ?? time
        self.start = start
        let progress = transition.duration > .zero ? min(1, (time - start) / transition.duration) : 1
        switch transition.style {
        case .custom(let animator): animator.animate(layer, progress: progress)
        // Eases out: slower towards the end.
        case .crossFade, .flip, .slide: layer.paintable.progress = 1 - (1 - progress) * (1 - progress)
        }
        if progress >= 1 { end() }
        return !isOver
    }

    /// Ends the transition: it has finished, or other content has replaced it.
    func end() {
        guard !isOver else { return }
        isOver = true
        if let layer, case .custom(let animator) = transition.style { animator.complete(layer) }
        completion()
    }
}
