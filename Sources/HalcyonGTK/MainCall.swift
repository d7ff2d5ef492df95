import Halcyon

/// A closure behind a pointer that C keeps, called on GTK's thread.
@MainActor final class MainCall: Sendable {
    private let body: @MainActor () -> Void

    init(_ body: @escaping @MainActor () -> Void) {
        self.body = body
    }

    /// The pointer, which `release` lets go of.
    var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

    /// Calls it at once.
    static let now: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let call = MainCall.behind(data) else { return }
        MainActor.assumeIsolated { call.body() }
    }

    /// Calls it soon: in the middle of a layout or of drawing nothing may change.
    static let later: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let call = MainCall.behind(data) else { return }
        MainInbox.shared.add { call.body() }
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        if let data { Unmanaged<MainCall>.fromOpaque(data).release() }
    }

    private nonisolated static func behind(_ data: UnsafeMutableRawPointer?) -> MainCall? {
        data.map { Unmanaged<MainCall>.fromOpaque($0).takeUnretainedValue() }
    }
}
