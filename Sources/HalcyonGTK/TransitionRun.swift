import Halcyon

/// One transition of a view, from its first frame to its last.
@MainActor final class TransitionRun {
    private let transition: ImageTransition
    private let view: ImageView
    private let completion: @MainActor () -> Void
    private var start: Duration?
    private var isOver = false

    init(_ transition: ImageTransition, of view: ImageView, completion: @escaping @MainActor () -> Void) {
        self.transition = transition
        self.view = view
        self.completion = completion
        if case .custom(let animator) = transition.style { animator.prepare(view) }
    }

    /// - Returns: whether there is more to come.
    func advance(to time: Duration) -> Bool {
        guard !isOver else { return false }
        let start = start ?? time
        self.start = start
        let progress = transition.duration > .zero ? min(1, (time - start) / transition.duration) : 1
        switch transition.style {
        case .custom(let animator): animator.animate(view, progress: progress)
        // Slower towards its end.
        case .crossFade, .flip, .slide: view.paintable.progress = 1 - (1 - progress) * (1 - progress)
        }
        if progress >= 1 { end() }
        return !isOver
    }

    /// Its last frame, now.
    func end() {
        guard !isOver else { return }
        isOver = true
        view.paintable.progress = 1
        if case .custom(let animator) = transition.style { animator.complete(view) }
        completion()
    }
}
