import CGTK
import Dispatch
import Halcyon

/// Memory pressure as the desktop tells it, through `GMemoryMonitor`: the low-memory monitor, or its portal in a sandbox.
///
///     ImageCache(disk: disk, memoryPressure: GIOMemoryPressure.shared)
///
/// GLib's main loop must run for anything to be heard. Where the desktop has no such monitor nothing is; the kernel's own
/// word is `SystemMemoryPressure`, which needs neither.
public final class GIOMemoryPressure: MemoryPressureSource {
    /// The one of this process.
    public static let shared = GIOMemoryPressure()

    private struct State {
        var subscribers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID = 0
        var monitor: GObjectReference?
    }

    private let state = Lock(State())
    /// To let images go takes longer than the main loop should wait.
    private let queue = DispatchQueue(label: "halcyon-memory-monitor")

    private init() {}

    public func subscribe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription {
        connect()
        let id = state.withLock { state in
            state.lastID += 1
            state.subscribers[state.lastID] = body
            return state.lastID
        }
        return MemoryPressureSubscription { [self] in
            let body = state.withLock { $0.subscribers.removeValue(forKey: id) }
            withExtendedLifetime(body) {}
        }
    }

    /// How many subscriptions there are.
    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// With the first subscription: to ask for the monitor begins a conversation over D-Bus.
    private func connect() {
        guard state.withLock({ $0.monitor == nil }) else { return }
        guard let pointer = g_memory_monitor_dup_default() else { return }
        let monitor = GObjectReference(taking: UnsafeMutableRawPointer(pointer))
        let isFirst = state.withLock { state in
            defer { state.monitor = state.monitor ?? monitor }
            return state.monitor == nil
        }
        guard isFirst else { return }
        Signal(monitor.raw, "low-memory-warning", number: { [weak self] level in self?.heard(level) })
    }

    private func heard(_ level: Int32) {
        let step = Self.step(level)
        queue.async { [self] in
            let bodies = state.withLock { Array($0.subscribers.values) }
            for body in bodies { body(step) }
        }
    }

    /// GLib's levels are places on a scale from 0 to 255.
    static func step(_ level: Int32) -> MemoryPressure {
        if level >= Int32(G_MEMORY_MONITOR_WARNING_LEVEL_CRITICAL.rawValue) { return .critical }
        return level >= Int32(G_MEMORY_MONITOR_WARNING_LEVEL_MEDIUM.rawValue) ? .high : .warning
    }
}
