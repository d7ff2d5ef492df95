import CHalcyonSystem
import Glibc
import Synchronization

/// The end of the program, at which the threads of all pools stop.
///
/// `exit` runs the destructors of the libraries' global objects while other threads go on: a codec in the middle of its work
/// would use them afterwards, and the program would end by a signal instead of its exit status. The program's own `atexit`
/// handlers run before, while the pools still work.
enum ProgramEnd {
    /// The number of pieces of work that are running.
    private static let working = Atomic<Int>(0)
    private static let begun = Atomic<Bool>(false)
    /// The maximum wait for running work, in microseconds. Codecs check every few milliseconds whether they are cancelled, and
    /// calls to the file system take no longer.
    private static let longestWait: UInt32 = 1_000_000
    private static let pause: UInt32 = 200

    /// Registers the wait at the end of the program, once.
    static let isWatched: Bool = {
        halcyon_at_end { ProgramEnd.begin() }
        return true
    }()

    /// The work that threads have taken at the end, kept: a continuation that is freed before it is resumed reports that on the
    /// program's standard error.
    private static let untouched = Lock<[@Sendable () -> Void]>([])

    /// Runs a piece of work; never returns once the program is ending.
    static func run(_ work: @escaping @Sendable () -> Void) {
        // Increment before load here, store before load in `begin`: at least one of the two threads sees the other's write.
        working.add(1, ordering: .sequentiallyConsistent)
        if begun.load(ordering: .sequentiallyConsistent) {
            untouched.withLock { $0.append(work) }
            stand()
        }
        work()
        working.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// Blocks running work for good once the program is ending. An error instead would reach the program, which might end with
    /// another status because of it.
    @inline(__always) static func stopWork() {
        if begun.load(ordering: .relaxed), ThreadPool.isCurrent { stand() }
    }

    private static func stand() -> Never {
        working.subtract(1, ordering: .sequentiallyConsistent)
        while true { _ = Glibc.pause() }
    }

    private static func begin() {
        begun.store(true, ordering: .sequentiallyConsistent)
        // Work that calls `exit` itself is not waited for.
        let own = ThreadPool.isCurrent ? 1 : 0
        var waited: UInt32 = 0
        // Polling, without locks and condition variables: this runs among handlers that others have registered.
        while working.load(ordering: .sequentiallyConsistent) > own, waited < longestWait {
            usleep(pause)
            waited += pause
        }
    }
}
