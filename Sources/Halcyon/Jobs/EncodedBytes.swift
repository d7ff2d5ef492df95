import HalcyonSystem

/// The budget for the encoded bytes of files, disk entries and finished transfers that wait to be decoded.
///
/// Reading is faster than decoding: without a limit, a thousand simultaneous requests would have all their files in
/// memory. The limit is 16 MiB for each core, at most a tenth of the memory grant and at least 16 MiB: no core decodes
/// faster because more bytes are ready. The size of a file is known only once it is read, so each request waits for a
/// reservation of a usual size and then takes the rest.
///
/// A transfer reserves nothing before its end, and then waits for its reservation while it occupies its place among the
/// transfers. This cannot deadlock: a decode needs no such place, and nothing holds a reservation here while it waits
/// for the network.
enum EncodedBytes {
    static let budget = ByteBudget(
        capacity: max(16 << 20, min(SystemGrant.current.cores * (16 << 20), SystemGrant.current.memory / 10)))

    private static let usual = 256 << 10

    /// Waits for a reservation of the usual size.
    ///
    /// - Throws: `CancellationError`.
    static func hold(ticket: WorkTicket) async throws -> ByteBudget.Hold {
        try await budget.hold(usual, ticket: ticket)
    }
}
