import Foundation
import HalcyonSystem

/// Tells work that began before a removal from work that began after it: what the former would store is older.
///
/// A fixed number of counters, each for many sources: a removal may keep what is made of another source meanwhile from
/// being stored, and nothing else.
final class RemovalMarks: Sendable {
    private let counts = Lock([Int](repeating: 0, count: 256))
    private let name = UUID().uuidString

    /// Of a source: how often it was removed, or one with which it shares the counter.
    func count(_ source: String) -> Int {
        let slot = Self.slot(of: source)
        return counts.withLock { $0[slot] }
    }

    /// What all that is stored between two removals has in common, and nothing else has.
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
        ExactText(source).hash(into: &hasher)
        return hasher.finalize() & 0xFF
    }
}
