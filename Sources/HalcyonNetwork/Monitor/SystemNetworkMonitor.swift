import Foundation
import HalcyonSystem

/// A network monitor that reads the kernel's routing tables. They are read when the status is requested, at most twice
/// in each `interval`; nothing runs in between.
///
/// If they cannot be read, the monitor reports a network, so that nothing waits in vain. Linux itself does not know the
/// cost of a connection: the `isConstrained` closure reports it.
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

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - interval: The time between two reads while a caller waits for the network. 1 s; at least 10 ms.
    ///   - isConstrained: Returns whether data use should be kept low; false by default. A load calls it and waits for it.
    public convenience init(
        interval: Duration = .seconds(1), isConstrained: @escaping @Sendable () -> Bool = { false }
    ) {
        self.init(interval: interval, time: .system, folder: "/proc/net", isConstrained: isConstrained)
    }

    /// Creates a monitor with another clock and folder.
    ///
    /// - Parameter folder: The folder of `route` and `ipv6_route`.
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

    /// Returns whether there is a route; one read serves all calls within half the interval.
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

/// A parser of the kernel's routing tables in the form of /proc.
///
/// A route leads to the network if it is up, is the default route or goes through a gateway, and does not use the
/// loopback device. Routes to neighbours alone do not count: bridges of containers have them without any network.
enum RouteTable {
    private static let (up, gateway, reject) = (0x1, 0x2, 0x200)

    /// Returns whether an IPv4 table has a route to the network.
    ///
    /// - Parameter text: The content of /proc/net/route.
    static func hasWayOut(ipv4 text: String) -> Bool {
        text.split(separator: "\n").dropFirst().contains { line in
            // Device, destination, gateway, flags, use count, uses, metric, mask, ...
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 8, let flags = Int(words[3], radix: 16) else { return false }
            let isDefault = isZero(words[1]) && isZero(words[7])
            return isUsable(flags, device: words[0], isDefault: isDefault)
        }
    }

    /// Returns whether an IPv6 table has a route to the network.
    ///
    /// - Parameter text: The content of /proc/net/ipv6_route.
    static func hasWayOut(ipv6 text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            // Destination, prefix, source, prefix, next hop, metric, references, uses, flags, device.
            let words = line.split(whereSeparator: \.isWhitespace)
            guard words.count >= 10, let flags = Int(words[8], radix: 16) else { return false }
            let isDefault = isZero(words[0]) && isZero(words[1])
            return isUsable(flags, device: words[9], isDefault: isDefault)
        }
    }

    private static func isUsable(_ flags: Int, device: Substring, isDefault: Bool) -> Bool {
        flags & up != 0 && flags & reject == 0 && device != "lo" && (isDefault || flags & gateway != 0)
    }

    private static func isZero(_ word: Substring) -> Bool {
        word.utf8.allSatisfy { $0 == UInt8(ascii: "0") }
    }
}
