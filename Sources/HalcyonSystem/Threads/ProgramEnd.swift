import CHalcyonSystem
import Glibc
import Synchronization

/// The end of the program, at which the threads of all pools stand still.
///
/// `exit` runs the destructors of the libraries' own objects while other threads go on: a codec in the middle of its
/// work would use them afterwards, and the program would end by a signal in place of its status. Handlers of the
/// program's own (`atexit`) come before, and find the pools at work.
enum ProgramEnd {
    /// Pieces of work that are under way.
    private static let working = Atomic<Int>(0)
    private static let begun = Atomic<Bool>(false)
    /// The longest that the end waits for work under way. Codecs ask every few milliseconds whether they are cancelled, and
    /// calls to the file system take no longer.
    private static let longestWait: UInt32 = 1_000_000
    private static let pause: UInt32 = 200

    /// Has the end of the program wait for work. Once is enough.
    static let isWatched: Bool = {
        halcyon_at_end { ProgramEnd.begin() }
        return true
    }()

    /// Runs a piece of work; never returns once the program is ending.
    static func run(_ work: () -> Void) {
        // The order of the two, here and in `begin`, lets one of the threads see what the other has written.
        working.add(1, ordering: .sequentiallyConsistent)
        if begun.load(ordering: .sequentiallyConsistent) {
            stand()
        }
        work()
        working.subtract(1, ordering: .sequentiallyConsistent)
    }

    /// Stops work under way for good once the program is ending. An error instead would reach the program, which might end
    /// with another status for it.
    @inline(__always) static func stopWork() {
        if begun.load(ordering: .relaxed), ThreadPool.isCurrent { stand() }
    }

    private static func stand() -> Never {
        working.subtract(1, ordering: .sequentiallyConsistent)
        while true { _ = Glibc.pause() }
    }

    private static func begin() {
        begun.store(true, ordering: .sequentiallyConsistent)
        // The work that ends the program is not waited for.
        let own = ThreadPool.isCurrent ? 1 : 0
        var waited: UInt32 = 0
        // No lock and no condition: this runs among handlers that others have registered.
        while working.load(ordering: .sequentiallyConsistent) > own, waited < longestWait {
            usleep(pause)
            waited += pause
        }
    }
}
