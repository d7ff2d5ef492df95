import CGTK
import Halcyon
import HalcyonNetwork
import HalcyonSystem

/// The network status that the desktop reports through `GNetworkMonitor`: NetworkManager, the portal in a sandbox, else the
/// kernel.
///
///     configuration.networkMonitor = GIONetworkMonitor.shared
///
/// Loads that wait for the network resume as soon as the desktop reports it as available, and a metered connection counts as
/// constrained. GLib's main loop must run for changes to arrive: for a program without one there is `SystemNetworkMonitor`.
public final class GIONetworkMonitor: NetworkMonitor {
    /// The shared instance of the process.
    public static let shared = GIONetworkMonitor(time: .system)

    private let isOnline = Lock(true)
    /// Notified when the network comes back: the loads that wait for it, then closures.
    private let (waiters, observers) = (Observers<Void>(), Observers<Void>())
    private let monitor: GObjectReference
    private let time: TimeSource

    /// - Parameter time: the time source for the limits of waits.
    init(time: TimeSource) {
        self.time = time
        monitor = GObjectReference(keeping: UnsafeMutableRawPointer(g_network_monitor_get_default()))
        Signal(monitor.raw, "network-changed", number: { [weak self] isOnline in self?.changed(isOnline != 0) })
        let isOnlineNow = g_network_monitor_get_network_available(monitor.opaque) != 0
        isOnline.withLock { $0 = isOnlineNow }
    }

    public var status: NetworkStatus {
        get async {
            let isMetered = g_network_monitor_get_network_metered(monitor.opaque) != 0
            return NetworkStatus(isOnline: isOnline.withLock { $0 }, isConstrained: isMetered)
        }
    }

    public func waitForNetwork(limit: Duration) async throws -> Bool {
        try Task.checkCancellation()
        let (returns, continuation) = AsyncStream<Void>.makeStream()
        let end = waiters.add { continuation.finish() }
        defer { end() }
        if isOnline.withLock({ $0 }) { return true }
        return try await withThrowingTaskGroup(of: Bool.self) { [time] group in
            group.addTask {
                for await _ in returns {}
                try Task.checkCancellation()
                return true
            }
            group.addTask {
                try await time.wait(for: limit.forTimer)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    /// Calls `body` each time that the network comes back, on the thread whose loop received the change.
    ///
    /// - Returns: a closure that ends the calls.
    func onReturn(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void { observers.add(body) }

    /// The number of waiters.
    var waiterCount: Int { waiters.count }

    /// GLib reports every change of any network; only a change from offline to online counts as a return.
    private func changed(_ isOnlineNow: Bool) {
        let isReturn = isOnline.withLock { isOnline in
            defer { isOnline = isOnlineNow }
            return isOnlineNow && !isOnline
        }
        guard isReturn else { return }
        waiters.notify(())
        observers.notify(())
    }
}
