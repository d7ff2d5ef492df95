import CHalcyonSystem
import Glibc

/// A lock for what is read all the time and changed now and then.
///
/// The readers of a common lock wait for each other even where none waits: each writes the lock, and its cache line
/// travels from processor to processor, which takes longer than the whole read. Here each processor has a mutex on lines
/// of its own, a lane. A reader takes the lane of the processor it runs on, a change takes all lanes in their order, so
/// that no two changes can wait for each other. A reader that the system moves to another processor meanwhile keeps its
/// lane; it is only slower then.
///
/// What readers write under their lanes must be atomic, but for the lane's own count.
///
/// `@unchecked Sendable` because a mutex may be locked on any thread, and a count is only touched under its mutex.
@usableFromInline
struct LaneLock: @unchecked Sendable {
    @usableFromInline
    struct Lane {
        @usableFromInline var mutex = pthread_mutex_t()
        /// For the readers, on the line that they write anyway.
        @usableFromInline var hits = 0

        @inlinable
        init() {}
    }

    /// Bytes from one lane to the next: processors fetch lines of 64 bytes in pairs.
    @inlinable static var stride: Int { 128 }
    /// A lane for each processor, up to eight, so that a change stays cheap; a power of two.
    static let laneCount = powerOfTwo(for: Int(halcyon_affinity_count()))

    static func powerOfTwo(for processors: Int) -> Int {
        var count = 1
        while count < min(8, processors) { count *= 2 }
        return count
    }

    @usableFromInline let base: UnsafeMutableRawPointer
    @usableFromInline let mask: Int

    /// A view of the lock that was initialised at `base`, with `mask` + 1 lanes.
    @inlinable
    init(base: UnsafeMutableRawPointer, mask: Int) {
        self.base = base
        self.mask = mask
    }

    func initialize() {
        // A lane is held for less time than falling asleep takes: who finds it taken spins a little first.
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

    /// Runs `body` while nobody changes anything; other readers may run.
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

    /// What the lanes have counted; only under `withLock`.
    var hits: Int { (0...mask).reduce(0) { $0 + lane($1).pointee.hits } }
}
