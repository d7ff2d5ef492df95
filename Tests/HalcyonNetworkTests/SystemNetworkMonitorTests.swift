import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SystemNetworkMonitorTests {
    /// A folder in the place of /proc/net.
    private final class Tables: Sendable {
        let folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-routes-\(UUID().uuidString)")

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        deinit {
            try? FileManager.default.removeItem(at: folder)
        }

        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }

        func monitor(_ clock: ManualClock) -> SystemNetworkMonitor {
            SystemNetworkMonitor(
                interval: .seconds(1), time: clock.timeSource, folder: folder.path(percentEncoded: false))
        }
    }

    private static let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    private static func ipv4(
        _ device: String, _ destination: String, _ gateway: String, _ flags: String, _ mask: String
    ) -> String {
        "\(device)\t\(destination)\t\(gateway)\t\(flags)\t0\t0\t100\t\(mask)\t0\t0\t0\n"
    }

    private static func ipv6(_ destination: String, _ prefix: String, _ flags: String, _ device: String) -> String {
        let zero = String(repeating: "0", count: 32)
        return "\(destination) \(prefix) \(zero) 00 \(zero) 00000400 00000001 00000000 \(flags) \(device)\n"
    }

    private static let zero6 = String(repeating: "0", count: 32)

    static let tables: [(route: String, route6: String, isOnline: Bool)] = [
        ("", "", false),
        (head, "", false),
        (head + ipv4("eth0", "00000000", "0100000A", "0003", "00000000"), "", true),
        // A default route without a gateway, as of a tunnel.
        (head + ipv4("tun0", "00000000", "00000000", "0001", "00000000"), "", true),
        // Half of all addresses each, through a gateway.
        (head + ipv4("tun0", "00000080", "0100000A", "0003", "00000080"), "", true),
        // The neighbours of a bridge.
        (head + ipv4("docker0", "000011AC", "00000000", "0001", "0000FFFF"), "", false),
        // Down, refused, loopback.
        (head + ipv4("eth0", "00000000", "0100000A", "0002", "00000000"), "", false),
        (head + ipv4("eth0", "00000000", "0100000A", "0203", "00000000"), "", false),
        (head + ipv4("lo", "00000000", "00000000", "0001", "00000000"), "", false),
        (head, ipv6(zero6, "00", "00000003", "eth0"), true),
        (head, ipv6(zero6, "00", "00200200", "lo"), false),
        (head, ipv6("fe800000000000000000000000000000", "40", "00000001", "eth0"), false),
        (head, ipv6("20010db8000000000000000000000000", "20", "00000003", "eth0"), true),
        ("Iface\nnonsense", "more nonsense\n\n\u{0}", false),
    ]

    @Test(arguments: tables)
    func theTablesAreRead(route: String, route6: String, isOnline: Bool) async throws {
        let tables = try Tables()
        try tables.write(route, "route")
        try tables.write(route6, "ipv6_route")
        #expect(await tables.monitor(ManualClock()).status == NetworkStatus(isOnline: isOnline))
    }

    @Test func withoutTablesThereIsSaidToBeANetwork() async throws {
        let clock = ManualClock()
        let tables = try Tables()
        #expect(await tables.monitor(clock).status.isOnline)
        #expect(try await tables.monitor(clock).waitForNetwork(limit: .zero))
        try tables.write(Self.head, "route")
        #expect(await !tables.monitor(clock).status.isOnline)
    }

    @Test func waitingEndsWithTheFirstLookThatFindsAWayOut() async throws {
        let (clock, tables) = (ManualClock(), try Tables())
        try tables.write(Self.head, "route")
        let monitor = tables.monitor(clock)
        let waiting = Task { try await monitor.waitForNetwork(limit: .seconds(30)) }
        for _ in 0..<3 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        try await clock.waitForSleepers()
        try tables.write(Self.head + Self.ipv4("eth0", "00000000", "0100000A", "0003", "00000000"), "route")
        clock.advance(by: .seconds(1))
        #expect(try await waiting.value)
    }

    @Test func waitingEndsAtItsLimitAndWithItsTask() async throws {
        let (clock, tables) = (ManualClock(), try Tables())
        try tables.write(Self.head, "route")
        let monitor = tables.monitor(clock)
        let waiting = Task { try await monitor.waitForNetwork(limit: .milliseconds(2_500)) }
        for step in [Duration.seconds(1), .seconds(1), .milliseconds(500)] {
            try await clock.waitForSleepers()
            clock.advance(by: step)
        }
        #expect(try await !waiting.value)
        let cancelled = Task { try await monitor.waitForNetwork(limit: .seconds(Int64.max)) }
        try await clock.waitForSleepers()
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func aLookServesAllForHalfTheInterval() async throws {
        let (clock, tables) = (ManualClock(), try Tables())
        try tables.write(Self.head, "route")
        let monitor = tables.monitor(clock)
        #expect(await !monitor.status.isOnline)
        try tables.write(Self.head + Self.ipv4("eth0", "00000000", "0100000A", "0003", "00000000"), "route")
        #expect(await !monitor.status.isOnline)
        clock.advance(by: .milliseconds(500))
        #expect(await monitor.status.isOnline)
    }

    @Test func constrainedStatusComesFromClosure() async {
        let monitor = SystemNetworkMonitor(isConstrained: { true })
        #expect(await monitor.status.isConstrained)
        #expect(await !SystemNetworkMonitor().status.isConstrained)
    }
}
