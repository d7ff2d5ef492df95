import Synchronization

/// The shard in which the clock's hand stands.
///
/// One hand goes round all shards, so that an entry's chances do not depend on how many neighbours its shard happens to
/// have. Where in the shard it stands, the shard knows.
@usableFromInline
final class ClockHand: Sendable {
    private let position = Atomic<Int>(0)

    /// Counts on without end; the number of shards is a power of two, so the remainder goes round.
    @usableFromInline var shard: Int { position.load(ordering: .relaxed) }

    /// Moves on to the next shard. Only one of several threads that reach a shard's end does.
    @usableFromInline
    func move(from shard: Int) {
        _ = position.compareExchange(expected: shard, desired: shard &+ 1, ordering: .relaxed)
    }
}
