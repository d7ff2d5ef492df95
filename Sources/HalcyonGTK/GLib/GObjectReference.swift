import CGTK

/// A strong reference to a GObject, released with this object.
///
/// `@unchecked Sendable`: GObject counts its references atomically, and the objects that are held here may be used on any
/// thread.
final class GObjectReference: @unchecked Sendable {
    let raw: UnsafeMutableRawPointer

    /// - Parameter raw: a GObject whose reference passes to this object.
    init(taking raw: UnsafeMutableRawPointer) {
        self.raw = raw
    }

    /// - Parameter raw: a GObject, to which a reference is added.
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

/// A strong reference to a `GtkAdjustment` with handlers of its changes.
@MainActor final class WatchedAdjustment {
    private let reference: GObjectReference
    private var signals: [Signal]

    /// - Parameters:
    ///   - reference: a reference to a `GtkAdjustment`.
    ///   - onScroll: called after a change of the value.
    ///   - onChange: called after a change of the bounds; nil, the default, for none.
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
