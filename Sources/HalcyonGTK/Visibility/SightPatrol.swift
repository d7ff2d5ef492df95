import Halcyon

/// Has the views in viewports look where they are: soon after something was scrolled, once that is laid out, and now and then,
/// since nothing tells of every change of place.
///
/// One timer for all of them, and none while no view is mapped in a viewport.
@MainActor final class SightPatrol {
    static let shared = SightPatrol()

    private struct Weak {
        weak var sight: ViewSight?
    }

    private var sights: [ObjectIdentifier: Weak] = [:]
    private let timer = MainTimer()
    private var isSoon = false

    func add(_ sight: ViewSight) {
        sights[ObjectIdentifier(sight)] = Weak(sight: sight)
        scrolled()
    }

    func remove(_ sight: ViewSight) {
        guard sights.removeValue(forKey: ObjectIdentifier(sight)) != nil, sights.isEmpty else { return }
        timer.stop()
        isSoon = false
    }

    /// Several within a twentieth of a second are one.
    func scrolled() {
        guard !isSoon, !sights.isEmpty else { return }
        isSoon = true
        timer.start(after: .milliseconds(50)) { [weak self] in self?.look() }
    }

    private func look() {
        isSoon = false
        for weak in Array(sights.values) { weak.sight?.look() }
        // What was told may have scrolled, or taken the last one out.
        guard !isSoon, !sights.isEmpty else { return }
        timer.start(after: .milliseconds(500)) { [weak self] in self?.look() }
    }
}
