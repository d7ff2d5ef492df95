import Halcyon

/// Closures behind pointers that C keeps, called on GTK's thread.
enum MainCall {
    typealias Body = @MainActor () -> Void

    /// A pointer for `now` or `later`, which `Release` lets go of.
    static func pointer(to body: @escaping Body) -> UnsafeMutableRawPointer { Retained<Body>.pointer(to: body) }

    /// Calls it at once.
    static let now: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let body = Retained<Body>.value(behind: data) else { return }
        MainActor.assumeIsolated { body() }
    }

    /// Calls it soon: in the middle of a layout or of drawing nothing may change.
    static let later: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let body = Retained<Body>.value(behind: data) else { return }
        MainInbox.shared.add(body)
    }
}
