import Glibc
import Synchronization

/// An executor with one thread, on which an actor's jobs run in the order of their arrival.
///
/// An actor with an executor of its own stays on it; a default actor that is called under a task executor preference runs on
/// the preferred threads, behind any work that blocks them.
package final class SerialThreadExecutor: SerialExecutor {
    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var waiting: [Work] = []
        var isStopped = false
    }

    private let queue = WaitQueue(State())
    private let thread = ThreadNumber()

    package init(name: String) {
        let (queue, thread) = (queue, thread)
        // The thread retains the queue, not the executor, so that it ends when the last owner releases the executor.
        WorkerThread.startOrBorrow(name: name) { [executor = Unowned(self)] in
            thread.value.store(pthread_self(), ordering: .relaxed)
            // The two arrays are swapped, so that no array is allocated for each turn.
            var batch: [Work] = []
            while true {
                let goesOn = queue.wait { state -> Bool? in
                    if state.waiting.isEmpty { return state.isStopped ? false : nil }
                    swap(&state.waiting, &batch)
                    return true
                }
                guard goesOn else { return }
                defer { batch.removeAll(keepingCapacity: batch.count < 1_000) }
                for work in batch {
                    switch work {
                    // A job retains its actor, and the actor its executor: the reference is valid while there is a job.
                    case .job(let job): job.runSynchronously(on: executor.reference)
                    case .body(let body): body()
                    }
                }
            }
        }
    }

    deinit {
        queue.change(wakingAll: true) { $0.isStopped = true }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.change { $0.waiting.append(.job(job)) }
    }

    /// Runs `body` on the thread, after everything that was queued before it. The actor's `assumeIsolated` succeeds there.
    ///
    /// Unlike with a `Task`, two calls from one thread run in the order of the calls.
    package func submit(_ body: @escaping @Sendable () -> Void) {
        queue.change { $0.waiting.append(.body(body)) }
    }

    /// Whether the caller runs on the executor's thread.
    package var isCurrent: Bool {
        // The thread itself has written its number before; no other thread has that number.
        thread.value.load(ordering: .relaxed) == pthread_self()
    }

    package func checkIsolated() {
        precondition(isCurrent, "not on this executor's thread")
    }

    /// The number of the thread, 0 until it runs.
    private final class ThreadNumber: Sendable {
        let value = Atomic<pthread_t>(0)
    }

    private struct Unowned: Sendable {
        let reference: UnownedSerialExecutor
        init(_ executor: SerialThreadExecutor) { reference = executor.asUnownedSerialExecutor() }
    }
}
