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

    private struct State {
        var isOnline = true
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
        var watchers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Lock(State())
    private let monitor: GObjectReference
    private let time: TimeSource

    /// - Parameter time: the time source for the limits of waits.
    init(time: TimeSource) {
        self.time = time
        monitor = GObjectReference(keeping: UnsafeMutableRawPointer(g_network_monitor_get_default()))
        Signal(monitor.raw, "network-changed", number: { [weak self] isOnline in self?.changed(isOnline != 0) })
        let isOnline = g_network_monitor_get_network_available(monitor.opaque) != 0
        state.withLock { $0.isOnline = isOnline }
    }

    public var status: NetworkStatus {
        get async {
            let isMetered = g_network_monitor_get_network_metered(monitor.opaque) != 0
            return NetworkStatus(isOnline: state.withLock { $0.isOnline }, isConstrained: isMetered)
        }
    }

    public func waitForNetwork(limit: Duration) async throws -> Bool {
        try Task.checkCancellation()
        if state.withLock({ $0.isOnline }) { return true }
        return try await withThrowingTaskGroup(of: Bool.self) { [self] group in
            group.addTask {
                try await self.waitUntilOnline()
                return true
            }
            group.addTask {
                try await self.time.wait(for: limit.forTimer)
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    /// Calls `body` each time that the network comes back, on the thread whose loop received the change.
    ///
    /// - Returns: a closure that ends the calls.
    func onReturn(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.lastID += 1
            state.watchers[state.lastID] = body
            return state.lastID
        }
        return { [self] in
            let body = state.withLock { $0.watchers.removeValue(forKey: id) }
            withExtendedLifetime(body) {}
        }
    }

    /// The number of waiters.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Notifies waiters and watchers. GLib reports every change of any network; only a change from offline to online counts as
    /// a return.
    private func changed(_ isOnline: Bool) {
        let (waiters, watchers) = state.withLock { state in
            let isReturn = isOnline && !state.isOnline
            state.isOnline = isOnline
            guard isReturn else {
                return ([CheckedContinuation<Void, any Error>](), [@Sendable () -> Void]())
            }
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), Array(state.watchers.values))
        }
        for waiter in waiters { waiter.resume() }
        for watcher in watchers { watcher() }
    }

    private func waitUntilOnline() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { enter(id, $0) }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func enter(_ id: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        let answer = state.withLock { state -> Result<Void, any Error>? in
            if Task.isCancelled { return .failure(CancellationError()) }
            if state.isOnline { return .success(()) }
            state.waiters[id] = continuation
            return nil
        }
        if let answer { continuation.resume(with: answer) }
    }
}
