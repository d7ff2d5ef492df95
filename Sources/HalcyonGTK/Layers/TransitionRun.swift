import Halcyon

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
