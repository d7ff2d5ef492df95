import Halcyon

/// A timer that has the views in viewports check whether they are visible: soon after a scroll, once that is laid out, and
/// every half second, since not every change of position emits a signal.
///
/// There is one timer for all views, and none while no watched view is mapped in a viewport.
@MainActor final class VisibilityMonitor {
    static let shared = VisibilityMonitor()

    private struct Weak {
        weak var sight: ViewVisibility?
    }

    private var sights: [ObjectIdentifier: Weak] = [:]
    private let timer = MainTimer()
    private var isSoon = false

    func add(_ sight: ViewVisibility) {
        sights[ObjectIdentifier(sight)] = Weak(sight: sight)
        scrolled()
    }

    func remove(_ sight: ViewVisibility) {
        guard sights.removeValue(forKey: ObjectIdentifier(sight)) != nil, sights.isEmpty else { return }
        timer.stop()
        isSoon = false
    }

    /// Schedules a check in 50 ms, one for all calls until then.
    func scrolled() {
        guard !isSoon, !sights.isEmpty else { return }
        isSoon = true
        timer.start(after: .milliseconds(50)) { [weak self] in self?.look() }
    }

    private func look() {
        isSoon = false
        for weak in Array(sights.values) { weak.sight?.look() }
        // A notified view may have scrolled, or removed the last view.
        guard !isSoon, !sights.isEmpty else { return }
        timer.start(after: .milliseconds(500)) { [weak self] in self?.look() }
    }
}
