import CGTK
import CHalcyonGTK
import Halcyon

// The zooming and panning by pointer and touch.
extension ZoomView {
    /// The closures of one view, which the C code keeps for as long as the widget lives.
    private struct Calls: Sendable {
        let isWanted: @MainActor () -> Bool
        let zoom: @MainActor (Double, Double, Double) -> Void
        let pan: @MainActor (Double, Double) -> Void
        let toggle: @MainActor (Double, Double) -> Void
    }

    func listenToGestures() {
        let calls = Calls(
            isWanted: { [weak self] in self?.isInteractive == true && self?.plan != nil },
            zoom: { [weak self] factor, x, y in self?.zoom(by: factor, around: (x, y)) },
            pan: { [weak self] x, y in self?.pan(by: (x, y)) },
            toggle: { [weak self] x, y in self?.toggle(around: (x, y)) })
        // Positions count from the corner of the viewport, beside which there may be scroll bars.
        halcyon_zoom_gestures(
            gtk_widget_get_parent(fixed) ?? widget,
            { data in
                MainActor.assumeIsolated { Retained<Calls>.value(behind: data)?.isWanted() == true ? 1 : 0 }
            },
            { data, factor, x, y in
                MainActor.assumeIsolated { Retained<Calls>.value(behind: data)?.zoom(factor, x, y) }
            },
            { data, x, y in MainActor.assumeIsolated { Retained<Calls>.value(behind: data)?.pan(x, y) } },
            { data, x, y in MainActor.assumeIsolated { Retained<Calls>.value(behind: data)?.toggle(x, y) } },
            Retained<Calls>.pointer(to: calls), Release.destroy)
    }

    /// Multiplies the zoom. The result is not smaller than the fitting zoom, or than the natural size if that is smaller.
    func zoom(by factor: Double, around point: (x: Double, y: Double)) {
        guard isInteractive, factor.isFinite, let shownZoom, let fittingZoom else { return }
        let (wanted, least) = (shownZoom * factor, min(fittingZoom, 1))
        // Zooming in and out again ends a rounding error away from the least zoom.
        if wanted > least * (factor > 1 ? 1 : 1.001) { return setZoom(wanted, around: point) }
        setZoom(fittingZoom <= 1 ? nil : 1, around: point)
    }

    func pan(by distance: (x: Double, y: Double)) {
        guard isInteractive, distance.x.isFinite, distance.y.isFinite else { return }
        scroll(to: (scrollPosition.x - distance.x, scrollPosition.y - distance.y))
    }

    /// Switches from the whole image to its natural size and back; if the whole image is shown at its natural size or larger,
    /// to twice the fitting zoom and back.
    func toggle(around point: (x: Double, y: Double)) {
        guard isInteractive, let fittingZoom else { return }
        if storedZoom != nil { return setZoom(nil, around: point) }
        setZoom(fittingZoom < 1 ? 1 : fittingZoom * 2, around: point)
    }
}
