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
