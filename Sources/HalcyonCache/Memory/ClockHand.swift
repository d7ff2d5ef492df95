import Synchronization

/// The shard in which the clock's hand stands.
///
/// One hand goes round all shards, so that an entry's chances do not depend on the number of entries in its shard. The
/// position within the shard is kept by the shard.
@usableFromInline
final class ClockHand: Sendable {
    private let position = Atomic<Int>(0)

    /// The number of the shard. It increases without end; the number of shards is a power of two, so that the remainder
    /// goes round.
    @usableFromInline var shard: Int { position.load(ordering: .relaxed) }

    /// Moves on to the next shard. If several threads reach a shard's end, only one of them moves the hand.
    @usableFromInline
    func move(from shard: Int) {
        _ = position.compareExchange(expected: shard, desired: shard &+ 1, ordering: .relaxed)
    }
}
