import CGTK

/// A `GtkAdjustment`, kept for as long as somebody listens to it.
@MainActor final class WatchedAdjustment {
    private let reference: GObjectReference
    private var signals: [Signal]

    /// - Parameters:
    ///   - reference: to a `GtkAdjustment`.
    ///   - onScroll: called after a change of its value.
    ///   - onChange: called after a change of its bounds; nothing by default.
    init(
        _ reference: GObjectReference, onScroll: @escaping MainCall.Body, onChange: MainCall.Body? = nil
    ) {
        self.reference = reference
        signals = [Signal(reference.raw, "value-changed", onScroll)]
        if let onChange { signals.append(Signal(reference.raw, "changed", onChange)) }
    }

    isolated deinit {
        signals.end()
    }

    var pointer: UnsafeMutablePointer<GtkAdjustment> { reference.typed() }
}
