import Foundation

/// Undoes the content codings of a body, the last one applied first.
///
/// Codings that it does not know are passed over: what servers write there besides (`aws-chunked`, `utf-8`) mostly
/// packs nothing, and what does is the caller's to unpack.
final class BodyUnpacker {
    /// What is offered to servers.
    static let acceptEncoding = "gzip, deflate"

    /// The most codings on top of each other.
    private static let depthLimit = 4

    private let stages: [Inflater]

    /// Nil when there is nothing to unpack.
    ///
    /// - Parameters:
    ///   - codings: in the order they were applied, in lower case.
    ///   - limit: the most bytes that any of them may unpack to.
    init?(codings: [String], limit: Int) {
        let known = codings.compactMap { name -> Inflater.Coding? in
            switch name {
            case "gzip", "x-gzip": .gzip
            case "deflate": .deflate
            default: nil
            }
        }
        guard !known.isEmpty, known.count <= Self.depthLimit else { return nil }
        stages = known.reversed().map { Inflater($0, limit: limit) }
    }

    /// Hands out what some more bytes unpack to, in pieces of 64 KiB at most.
    ///
    /// - Throws: `Inflater.Failure`.
    func unpack(_ packed: Data, _ take: (Data) throws -> Void) throws {
        try pass(packed, through: 0, take)
    }

    /// Whether what came so far is all of it. A body without a byte is: servers say gzip over nothing, too.
    var isComplete: Bool { stages.allSatisfy(\.isComplete) }

    private func pass(_ bytes: Data, through stage: Int, _ take: (Data) throws -> Void) throws {
        guard stage < stages.count else { return try take(bytes) }
        try stages[stage].unpack(bytes) { try pass($0, through: stage + 1, take) }
    }
}
