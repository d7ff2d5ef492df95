import Synchronization

/// A bound of bytes that are in memory while something slow is waited for: work, or a client.
final class HeldBytes: Sendable {
    /// A part of the bytes, given back with its last reference.
    final class Share: Sendable {
        private let count: Int
        private let owner: HeldBytes

        fileprivate init(_ count: Int, of owner: HeldBytes) {
            (self.count, self.owner) = (count, owner)
        }

        deinit { owner.total.subtract(count, ordering: .relaxed) }
    }

    private let total = Atomic(0)
    private let maximum: Int

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// The bytes that are held.
    var count: Int { total.load(ordering: .relaxed) }

    /// Counts bytes until the share is dropped.
    ///
    /// - Throws: `Originals.Failure.noMemory` above the bound.
    func share(_ count: Int) throws -> Share {
        let share = Share(count, of: self)
        guard total.add(count, ordering: .relaxed).newValue <= maximum else { throw Originals.Failure.noMemory }
        return share
    }
}
