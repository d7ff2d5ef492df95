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
