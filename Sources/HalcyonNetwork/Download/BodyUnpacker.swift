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

    /// In the order in which they unpack.
    private let stages: [Inflater]
    /// The one whose input is being unpacked.
    private var active = 0

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

    /// The result of one step.
    enum Step {
        case piece(Data)
        /// There is more to do, and nothing to show.
        case working
        /// All that came is unpacked.
        case done
    }

    /// Takes some more bytes, once those before are unpacked.
    func feed(_ packed: Data) {
        stages.first?.feed(packed)
    }

    /// Unpacks a piece of 64 KiB at most by one of the codings, so that who does it may stop between any two.
    ///
    /// - Throws: `Inflater.Failure`.
    func step() throws -> Step {
        // The innermost that has something to unpack hands it on.
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

    /// Whether what came so far is all of it. A body without a byte is: servers say gzip over nothing, too.
    var isComplete: Bool { stages.allSatisfy(\.isComplete) }
}
