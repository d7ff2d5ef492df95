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

    /// Before its first frame.
    func prepare() {
        if let layer, case .custom(let animator) = transition.style { animator.prepare(layer) }
    }

    /// - Returns: whether there is more to come.
    func advance(to time: Duration) -> Bool {
        guard !isOver, let layer else { return false }
        let start = start ?? time
        self.start = start
        let progress = transition.duration > .zero ? min(1, (time - start) / transition.duration) : 1
        switch transition.style {
        case .custom(let animator): animator.animate(layer, progress: progress)
        // Slower towards its end.
        case .crossFade, .flip, .slide: layer.paintable.progress = 1 - (1 - progress) * (1 - progress)
        }
        if progress >= 1 { end() }
        return !isOver
    }

    /// It is over, or something else has taken its place.
    func end() {
        guard !isOver else { return }
        isOver = true
        if let layer, case .custom(let animator) = transition.style { animator.complete(layer) }
        completion()
    }
}
