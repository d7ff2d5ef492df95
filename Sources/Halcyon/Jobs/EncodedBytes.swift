import HalcyonSystem

/// The encoded bytes of files, disk entries and finished transfers that wait to be decoded.
///
/// Reading is faster than decoding: of a thousand requests at once all files would be in memory. 16 MiB for each core
/// bound them, at most a tenth of the grant and at least 16 MiB: no core decodes faster for more being ready. The size is
/// known once a file is read, so each waits for a usual one's room, and takes the rest then. A transfer takes nothing before its end, and waits then in its place among the transfers: who decodes
/// needs no such place, and nobody holds room here while he waits for the network.
enum EncodedBytes {
    static let budget = ByteBudget(
        capacity: max(16 << 20, min(SystemGrant.current.cores * (16 << 20), SystemGrant.current.memory / 10)))

    private static let usual = 256 << 10

    /// - Throws: `CancellationError`.
    static func hold(ticket: WorkTicket) async throws -> ByteBudget.Hold {
        try await budget.hold(usual, ticket: ticket)
    }
}
