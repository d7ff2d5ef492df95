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

    private let monitor = Lock<GObjectReference?>(nil)
    private let observers = Observers<MemoryPressure>()
    /// The queue of the subscribers' closures, since evicting images takes longer than the main loop should be blocked.
    private let queue = DispatchQueue(label: "halcyon-memory-monitor")

    private init() {}

    public func subscribe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription {
        connect()
        return MemoryPressureSubscription(observers.add(body))
    }

    /// The number of subscriptions.
    var subscriberCount: Int { observers.count }

    /// Connects to the monitor at the first subscription, since it starts a conversation over D-Bus.
    private func connect() {
        guard monitor.withLock({ $0 == nil }), let pointer = g_memory_monitor_dup_default() else { return }
        let reference = GObjectReference(taking: UnsafeMutableRawPointer(pointer))
        let isFirst = monitor.withLock { monitor in
            defer { monitor = monitor ?? reference }
            return monitor == nil
        }
        guard isFirst else { return }
        Signal(
            reference.raw, "low-memory-warning",
            number: { [queue, observers] level in
                queue.async { observers.notify(Self.step(level)) }
            })
    }

    /// Maps GLib's level, a number from 0 to 255.
    static func step(_ level: Int32) -> MemoryPressure {
        if level >= Int32(G_MEMORY_MONITOR_WARNING_LEVEL_CRITICAL.rawValue) { return .critical }
        return level >= Int32(G_MEMORY_MONITOR_WARNING_LEVEL_MEDIUM.rawValue) ? .high : .warning
    }
}
