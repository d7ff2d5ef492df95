import CGTK
import CHalcyonGTK
import Halcyon

// What its user does with the pointer and with fingers.
extension ZoomView {
    /// The closures of one view, which C keeps for as long as the widget lives.
    private struct Calls: Sendable {
        let zoom: @MainActor (Double, Double, Double) -> Void
        let pan: @MainActor (Double, Double) -> Void
        let toggle: @MainActor (Double, Double) -> Void
    }

    func listenToGestures() {
        let calls = Calls(
            zoom: { [weak self] factor, x, y in self?.zoom(by: factor, around: (x, y)) },
            pan: { [weak self] x, y in self?.pan(by: (x, y)) },
            toggle: { [weak self] x, y in self?.toggle(around: (x, y)) })
        halcyon_zoom_gestures(
            widget,
            { data, factor, x, y in
                MainActor.assumeIsolated { Retained<Calls>.value(behind: data)?.zoom(factor, x, y) }
            },
            { data, x, y in MainActor.assumeIsolated { Retained<Calls>.value(behind: data)?.pan(x, y) } },
            { data, x, y in MainActor.assumeIsolated { Retained<Calls>.value(behind: data)?.toggle(x, y) } },
            Retained<Calls>.pointer(to: calls), Release.destroy)
    }

    /// Not smaller than the whole in the window, or than the natural size where that is smaller.
    func zoom(by factor: Double, around point: (x: Double, y: Double)) {
        guard isInteractive, factor.isFinite, let shownZoom, let fittingZoom else { return }
        let (wanted, least) = (shownZoom * factor, min(fittingZoom, 1))
        if wanted > least { return setZoom(wanted, around: point) }
        setZoom(fittingZoom <= 1 ? nil : 1, around: point)
    }

    func pan(by distance: (x: Double, y: Double)) {
        guard isInteractive, distance.x.isFinite, distance.y.isFinite else { return }
        scroll(to: (place.x - distance.x, place.y - distance.y))
    }

    /// From the whole to the natural size, of what is as large already to twice that, and back.
    func toggle(around point: (x: Double, y: Double)) {
        guard isInteractive, let fittingZoom else { return }
        if chosen != nil { return setZoom(nil, around: point) }
        setZoom(fittingZoom < 1 ? 1 : fittingZoom * 2, around: point)
    }
}
