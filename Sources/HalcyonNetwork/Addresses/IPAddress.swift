import Glibc

/// An IP address, version 4 or 6.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The 4 or 16 bytes of the address in network order.
    let bytes: [UInt8]

    /// Creates an address from its bytes.
    ///
    /// - Returns: Nil for anything but 4 or 16 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Parses an address as URLs have it: with or without brackets, ignoring its zone, and an IPv4 address in all the
    /// forms that the C library accepts (`127.1`, `0x7f000001`, `0177.0.0.1`).
    ///
    /// - Returns: Nil for a host name.
    package init?(host: String) {
        var text = host
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        text = String(text.prefix { $0 != "%" })
        var six = in6_addr()
        if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
            return
        }
        var four = in_addr()
        // `inet_aton` would accept an address followed by a space and any text.
        guard !text.isEmpty, !text.contains(where: \.isWhitespace), inet_aton(text, &four) == 1 else { return nil }
        bytes = withUnsafeBytes(of: four) { Array($0) }
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the address belongs to a host of the public Internet. False for addresses that are private, link-local,
    /// loopback, multicast, for documentation or tests, or reserved (the registries of RFC 6890), and for a cloud's
    /// metadata service. An IPv4 address that is embedded in an IPv6 one is judged as itself.
    package var isPublic: Bool {
        bytes.count == 4 ? Self.isPublic(bytes[...]) : isPublicSix
    }

    private static func isPublic(_ four: ArraySlice<UInt8>) -> Bool {
        let value = four.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return !reserved.contains { value >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }
    }

    private var isPublicSix: Bool {
        if bytes.starts(with: Self.translated) { return Self.isPublic(bytes[12...]) }
        if bytes.starts(with: Self.mapped) { return Self.isPublic(bytes[12...]) }
        if bytes.starts(with: [0x20, 0x02]) { return Self.isPublic(bytes[2..<6]) }
        // Only 2000::/3 of the rest is assigned to hosts.
        guard bytes[0] >> 5 == 1 else { return false }
        // 2001::/23 is for protocols (Teredo, ORCHID), 2001:db8::/32 and 3fff::/20 for documentation.
        if bytes.starts(with: [0x20, 0x01]), bytes[2] < 2 { return false }
        if bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8]) { return false }
        return !(bytes[0] == 0x3F && bytes[1] == 0xFF && bytes[2] < 0x10)
    }

    /// The prefix 64:ff9b::/96, with which NAT64 embeds IPv4 addresses.
    private static let translated: [UInt8] = [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
    /// The prefix ::ffff:0:0/96 of IPv4-mapped addresses.
    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// The IPv4 ranges that do not belong to hosts of the public Internet.
    private static let reserved: [(prefix: UInt32, length: UInt32)] = [
        (0x0000_0000, 8),  // this network
        (0x0A00_0000, 8), (0xAC10_0000, 12), (0xC0A8_0000, 16),  // private
        (0x6440_0000, 10),  // shared by the customers of a provider (carrier-grade NAT)
        (0x7F00_0000, 8),  // loopback
        (0xA9FE_0000, 16),  // link-local, and most clouds' metadata
        (0xA83F_8110, 32),  // 168.63.129.16, a cloud's own service in its machines
        (0xC000_0000, 24), (0xC058_6300, 24),  // protocols
        (0xC000_0200, 24), (0xC633_6400, 24), (0xCB00_7100, 24),  // documentation
        (0xC612_0000, 15),  // benchmarks
        (0xE000_0000, 4), (0xF000_0000, 4),  // multicast, reserved, broadcast
    ]
}
