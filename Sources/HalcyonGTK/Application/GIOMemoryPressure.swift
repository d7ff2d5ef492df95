import CGTK
import Dispatch
import Halcyon
import HalcyonSystem

/// The memory pressure that the desktop reports through `GMemoryMonitor`: the low-memory monitor, or its portal in a sandbox.
///
///     ImageCache(disk: disk, memoryPressure: GIOMemoryPressure.shared)
///
/// GLib's main loop must run for reports to arrive. Without such a monitor on the desktop there are none;
/// `SystemMemoryPressure` reads the kernel's figures, and needs neither.
public final class GIOMemoryPressure: MemoryPressureSource {
    /// The shared instance of the process.
    public static let shared = GIOMemoryPressure()

    private struct State {
        var subscribers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID = 0
        var monitor: GObjectReference?
    }

    private let state = Lock(State())
    /// The queue of the subscribers' closures, since evicting images takes longer than the main loop should be blocked.
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

    /// The number of subscriptions.
    var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Connects to the monitor at the first subscription, since it starts a conversation over D-Bus.
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

    /// Maps GLib's level, a number from 0 to 255.
    static func step(_ level: Int32) -> MemoryPressure {
        if level >= Int32(G_MEMORY_MONITOR_WARNING_LEVEL_CRITICAL.rawValue) { return .critical }
        return level >= Int32(G_MEMORY_MONITOR_WARNING_LEVEL_MEDIUM.rawValue) ? .high : .warning
    }
}
