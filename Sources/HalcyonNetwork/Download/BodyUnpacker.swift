import Foundation
import HalcyonSystem

/// A decompressor that decodes the content codings of a body, the last applied one first.
///
/// Unknown codings are ignored: the other values that servers send there (`aws-chunked`, `utf-8`) mostly do not
/// compress anything, and bodies with those that do are left to the caller.
final class BodyUnpacker {
    /// The value of `Accept-Encoding` that is sent to servers.
    static let acceptEncoding = "gzip, deflate"

    /// The largest number of codings that are applied on top of each other.
    private static let depthLimit = 4

    /// The stages in the order in which they decompress.
    private let stages: [Inflater]
    /// The index of the stage whose input is being decompressed.
    private var active = 0

    /// Creates a decompressor; nil if there is nothing to decompress, or if there are more than four known codings.
    ///
    /// - Parameters:
    ///   - codings: The codings in the order in which they were applied, in lower case.
    ///   - limit: The largest decompressed size in bytes, for each of the stages.
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

    /// The result of one step.
    enum Step {
        case piece(Data)
        /// There is more to do, but no output yet.
        case working
        /// All bytes that were fed are decompressed.
        case done
    }

    /// Takes more bytes, once the previous ones are decompressed.
    func feed(_ packed: Data) {
        stages.first?.feed(packed)
    }

    /// Decompresses at most one piece of 64 KiB by one of the stages, so that the caller may stop between two steps.
    ///
    /// - Throws: `Inflater.Failure`.
    func step() throws -> Step {
        // The innermost stage that has input passes its output on.
        if let piece = try stages[active].next() {
            guard active + 1 < stages.count else { return .piece(piece) }
            active += 1
            stages[active].feed(piece)
            return .working
        }
        guard active > 0 else { return .done }
        active -= 1
        return .working
    }

    /// Whether the bytes so far are complete. An empty body is: some servers declare gzip for one.
    var isComplete: Bool { stages.allSatisfy(\.isComplete) }
}

extension HTTPHeaders {
    /// Adds `Accept-Encoding` with the supported codings, unless there is one.
    ///
    /// - Returns: The added value; nil if the field was there already.
    mutating func addAcceptEncoding() -> String? {
        guard !contains("Accept-Encoding") else { return nil }
        let codings = contains("Range") ? Self.forParts : BodyUnpacker.acceptEncoding
        set("Accept-Encoding", codings)
        return codings
    }

    /// Requests an uncompressed response if a `Range` was added since `addAcceptEncoding` and its value is unchanged.
    mutating func adaptAcceptEncoding(_ added: String) {
        if contains("Range"), self["Accept-Encoding"] == added { set("Accept-Encoding", Self.forParts) }
    }

    /// The value for partial requests: a part of a compressed body cannot be decompressed.
    private static let forParts = "identity"
}
