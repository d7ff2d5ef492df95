import CHalcyonSystem
import Glibc

/// A lock for data that is read all the time and changed rarely.
///
/// The readers of a common lock slow each other down even when none has to wait: each of them writes the lock, whose cache
/// line moves from processor to processor, which takes longer than the whole read. Here each processor has a mutex on cache
/// lines of its own, a lane. A reader locks the lane of the processor it runs on; a writer locks all lanes in order, so
/// that two writers cannot deadlock. A reader that the system moves to another processor meanwhile keeps its lane, and is
/// only slower.
///
/// Data that readers write under their lanes must be atomic, except for the lane's own count.
///
/// `@unchecked Sendable` because a mutex may be locked on any thread, and a count is only accessed under its mutex.
@usableFromInline
struct PerCoreLock: @unchecked Sendable {
    @usableFromInline
    struct Lane {
        @usableFromInline var mutex = pthread_mutex_t()
        /// The number of hits, counted by the readers on the cache line that they write anyway.
        @usableFromInline var hits = 0

        @inlinable
        init() {}
    }

    /// The bytes from one lane to the next: processors fetch lines of 64 bytes in pairs.
    @inlinable static var stride: Int { 128 }
    /// The number of lanes: one for each processor, rounded up to a power of two, and at most eight, so that a change stays
    /// cheap.
    static let laneCount = powerOfTwo(for: Int(halcyon_affinity_count()))

    static func powerOfTwo(for processors: Int) -> Int {
        var count = 1
        while count < min(8, processors) { count *= 2 }
        return count
    }

    @usableFromInline let base: UnsafeMutableRawPointer
    @usableFromInline let mask: Int

    /// Creates a view of the lock that was initialised at `base`, with `mask` + 1 lanes.
    @inlinable
    init(base: UnsafeMutableRawPointer, mask: Int) {
        self.base = base
        self.mask = mask
    }

    func initialize() {
        // A lane is held for less time than falling asleep takes, so a thread that finds it taken spins a little first.
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        defer { pthread_mutexattr_destroy(&attributes) }
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        for index in 0...mask {
            let lane = (base + Self.stride * index).initializeMemory(as: Lane.self, to: Lane())
            pthread_mutex_init(&lane.pointee.mutex, &attributes)
        }
    }

    func deinitialize() {
        for index in 0...mask {
            pthread_mutex_destroy(&lane(index).pointee.mutex)
            lane(index).deinitialize(count: 1)
        }
    }

    @inlinable
    func lane(_ index: Int) -> UnsafeMutablePointer<Lane> {
        (base + Self.stride * index).assumingMemoryBound(to: Lane.self)
    }

    /// Runs `body` while no thread changes anything; other readers may run.
    @inlinable
    @inline(__always)
    func withLane<Result: ~Copyable>(_ body: (inout Int) -> Result) -> Result {
        let lane = lane(mask == 0 ? 0 : Int(sched_getcpu()) & mask)
        pthread_mutex_lock(&lane.pointee.mutex)
        defer { pthread_mutex_unlock(&lane.pointee.mutex) }
        return body(&lane.pointee.hits)
    }

    /// Runs `body` while no other thread reads or changes anything.
    @inlinable
    @inline(__always)
    func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
        for index in 0...mask { pthread_mutex_lock(&lane(index).pointee.mutex) }
        defer { for index in 0...mask { pthread_mutex_unlock(&lane(mask - index).pointee.mutex) } }
        return body()
    }

    /// The sum of the lanes' hits. Use it only under `withLock`.
    var hits: Int { (0...mask).reduce(0) { $0 + lane($1).pointee.hits } }
}
