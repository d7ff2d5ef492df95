import CGTK

/// A reference to a GObject of its own.
///
/// `@unchecked Sendable`: GObject counts its references atomically, and what is kept here may be used on any thread.
final class GObjectReference: @unchecked Sendable {
    let raw: UnsafeMutableRawPointer

    /// - Parameter raw: whose reference is this object's from now on.
    init(taking raw: UnsafeMutableRawPointer) {
        self.raw = raw
    }

    /// - Parameter raw: which gets another reference.
    init(keeping raw: UnsafeMutableRawPointer) {
        g_object_ref(raw)
        self.raw = raw
    }

    deinit {
        g_object_unref(raw)
    }

    var opaque: OpaquePointer { OpaquePointer(raw) }

    func typed<Object>(_ type: Object.Type = Object.self) -> UnsafeMutablePointer<Object> {
        raw.assumingMemoryBound(to: type)
    }
}

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
