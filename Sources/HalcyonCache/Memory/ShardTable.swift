import Synchronization

/// The shards of a `MemoryCache`, each behind a lock and on cache lines of its own.
///
/// Not an array of `Lock`s: reaching a shard through one costs a retain and a release, which all threads would do on the
/// same few counters, and an exclusivity check that the lock makes unnecessary.
///
/// `@unchecked Sendable` because a shard is only accessed under its lock: it is changed while no other thread holds one of
/// its lanes, and read under a lane.
@usableFromInline
final class ShardTable<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline typealias Shard = ClockShard<Key, Value>

    @usableFromInline let base: UnsafeMutableRawPointer
    /// The bytes from a shard's lock to the shard.
    @usableFromInline let lockSize: Int
    @usableFromInline let stride: Int
    @usableFromInline let mask: Int
    @usableFromInline let laneMask: Int
    @inlinable var count: Int { mask + 1 }

    /// Creates empty shards.
    ///
    /// - Parameters:
    ///   - count: the number of shards, a power of two.
    ///   - lanes: the number of lanes of each lock, a power of two.
    init(count: Int, lanes: Int) {
        precondition(count > 0 && count & (count - 1) == 0, "not a power of two")
        precondition(lanes > 0 && lanes & (lanes - 1) == 0, "not a power of two")
        mask = count - 1
        laneMask = lanes - 1
        lockSize = PerCoreLock.stride * lanes
        stride = lockSize + (MemoryLayout<Shard>.stride + 127) & ~127
        base = .allocate(byteCount: stride * count, alignment: 128)
        for index in 0..<count {
            lock(index).initialize()
            (base + stride * index + lockSize).initializeMemory(as: Shard.self, to: Shard())
        }
    }

    deinit {
        for index in 0...mask {
            lock(index).deinitialize()
            shard(index).deinitialize(count: 1)
        }
        base.deallocate()
    }

    @inlinable
    func lock(_ index: Int) -> PerCoreLock {
        PerCoreLock(base: base + stride * (index & mask), mask: laneMask)
    }

    @inlinable
    func shard(_ index: Int) -> UnsafeMutablePointer<Shard> {
        (base + stride * (index & mask) + lockSize).assumingMemoryBound(to: Shard.self)
    }

    /// Runs `body` with the shard that an index or a hash selects, while no other thread accesses it. Never call foreign
    /// code or wait inside `body`.
    @inlinable
    @inline(__always)
    func withLock<Result: ~Copyable>(_ index: Int, _ body: (inout Shard) -> Result) -> Result {
        lock(index).withLock { body(&shard(index).pointee) }
    }

    /// Runs `body` with the shard that an index or a hash selects and a counter of hits, while no thread changes the shard;
    /// others may read it. Never call foreign code or wait inside `body`.
    @inlinable
    @inline(__always)
    func withLane<Result: ~Copyable>(_ index: Int, _ body: (UnsafePointer<Shard>, inout Int) -> Result) -> Result {
        lock(index).withLane { body(UnsafePointer(shard(index)), &$0) }
    }
}

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
