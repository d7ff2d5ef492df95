import Foundation
import HalcyonSystem

/// Counters that distinguish work begun before a removal from work begun after it: the results of the former are outdated.
///
/// There is a fixed number of counters, each shared by many sources: a removal may keep concurrent results of another source
/// from being stored, and has no other effect on it.
final class RemovalCounters: Sendable {
    private let counts = Lock([Int](repeating: 0, count: 256))
    private let name = UUID().uuidString

    /// Returns the number of removals of a source, and of those with which it shares the counter.
    func count(_ source: String) -> Int {
        let slot = Self.slot(of: source)
        return counts.withLock { $0[slot] }
    }

    /// Returns the text that marks all entries stored between two removals, and no others.
    func seal(after count: Int) -> String { "\(name)-\(count)" }

    func mark(_ source: String) {
        let slot = Self.slot(of: source)
        counts.withLock { $0[slot] &+= 1 }
    }

    func markAll() {
        counts.withLock { counts in
            for slot in counts.indices { counts[slot] &+= 1 }
        }
    }

    private static func slot(of source: String) -> Int {
        var hasher = Hasher()
        ExactString(source).hash(into: &hasher)
        return hasher.finalize() & 0xFF
    }
}
