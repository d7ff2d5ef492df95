import Glibc

/// The shards of a `MemoryCache`, each behind a mutex and on cache lines of its own.
///
/// Not an array of `Lock`s: reaching a shard through one costs a retain and a release, which all threads would do on the
/// same few counters, and a check of exclusive access that the mutex makes needless.
///
/// `@unchecked Sendable` because a shard is only ever touched between lock and unlock of its mutex.
@usableFromInline
final class ShardTable<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    @usableFromInline
    struct Guarded {
        @usableFromInline var mutex = pthread_mutex_t()
        @usableFromInline var shard = ClockShard<Key, Value>()

        @inlinable
        init() {}
    }

    @usableFromInline let base: UnsafeMutableRawPointer
    /// Bytes from one shard to the next.
    @usableFromInline let stride: Int
    @usableFromInline let mask: Int
    @inlinable var count: Int { mask + 1 }

    /// - Parameter count: a power of two.
    init(count: Int) {
        precondition(count > 0 && count & (count - 1) == 0, "not a power of two")
        mask = count - 1
        // Processors fetch lines of 64 bytes in pairs.
        stride = (MemoryLayout<Guarded>.stride + 127) & ~127
        base = .allocate(byteCount: stride * count, alignment: 128)
        // A shard is held for less time than falling asleep takes: who finds it taken spins a little first.
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        defer { pthread_mutexattr_destroy(&attributes) }
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        for index in 0..<count {
            let guarded = (base + stride * index).initializeMemory(as: Guarded.self, to: Guarded())
            pthread_mutex_init(&guarded.pointee.mutex, &attributes)
        }
    }

    deinit {
        for index in 0...mask {
            let guarded = pointer(index)
            pthread_mutex_destroy(&guarded.pointee.mutex)
            guarded.deinitialize(count: 1)
        }
        base.deallocate()
    }

    @inlinable
    func pointer(_ index: Int) -> UnsafeMutablePointer<Guarded> {
        (base + stride * (index & mask)).assumingMemoryBound(to: Guarded.self)
    }

    /// Runs `body` with the shard that an index or a hash chooses, while no other thread can. Never call out to foreign
    /// code or wait inside it.
    @inlinable
    @inline(__always)
    func withLock<Result>(_ index: Int, _ body: (inout ClockShard<Key, Value>) -> Result) -> Result {
        let guarded = pointer(index)
        pthread_mutex_lock(&guarded.pointee.mutex)
        defer { pthread_mutex_unlock(&guarded.pointee.mutex) }
        return body(&guarded.pointee.shard)
    }
}
