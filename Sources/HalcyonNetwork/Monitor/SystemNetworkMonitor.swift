import Foundation
import HalcyonSystem

/// What the kernel's routing tables say. They are read when somebody asks, at most twice for each `interval`; nothing
/// runs in between.
///
/// Where they cannot be read there is said to be a network, so that nothing waits in vain. Linux itself knows nothing of
/// what a connection costs: `isConstrained` tells.
public final class SystemNetworkMonitor: NetworkMonitor {
    private struct Seen {
        let date: Date
        let isOnline: Bool
    }

    private let interval: Duration
    private let time: TimeSource
    private let folder: String
    private let isConstrained: @Sendable () -> Bool
    private let seen = Lock<Seen?>(nil)

    /// - Parameters:
    ///   - interval: between two looks while somebody waits. 1 s; less than 10 ms is that.
    ///   - isConstrained: whether the connection is to be spared; false by default. It is asked on a load's way.
    public convenience init(
        interval: Duration = .seconds(1), isConstrained: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init(interval: interval, time: .system, folder: "/proc/net", isConstrained: isConstrained)
    }

    /// - Parameter folder: where `route` and `ipv6_route` are.
    package init(
        interval: Duration, time: TimeSource, folder: String,
        isConstrained: @escaping @Sendable () -> Bool = { false }
    ) {
        self.interval = max(interval, .milliseconds(10))
        self.time = time
        self.folder = folder
        self.isConstrained = isConstrained
    }

    public var status: NetworkStatus {
        get async { NetworkStatus(isOnline: isOnline(), isConstrained: isConstrained()) }
    }

    public func waitForNetwork(limit: Duration) async throws -> Bool {
        var left = limit.forTimer
        while true {
            try Task.checkCancellation()
            if isOnline() { return true }
            guard left > .zero else { return false }
            let pause = min(left, interval)
            try await time.wait(for: pause)
            left -= pause
        }
    }

    /// One look serves all who ask within half the interval.
    private func isOnline() -> Bool {
        let now = time.now
        if let seen = seen.withLock({ $0 }), seen.date <= now, now < seen.date + interval.inSeconds / 2 {
            return seen.isOnline
        }
        let isOnline = look()
        seen.withLock { $0 = Seen(date: now, isOnline: isOnline) }
        return isOnline
    }

    private func look() -> Bool {
        let ipv4 = SystemText.read(folder + "/route")
        if ipv4.map(RouteTable.hasWayOut(ipv4:)) == true { return true }
        let ipv6 = SystemText.read(folder + "/ipv6_route")
        if ipv6.map(RouteTable.hasWayOut(ipv6:)) == true { return true }
        return ipv4 == nil && ipv6 == nil
    }
}

extension Duration {
    fileprivate var inSeconds: TimeInterval {
        TimeInterval(components.seconds) + TimeInterval(components.attoseconds) * 1e-18
    }
}
