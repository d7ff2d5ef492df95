import Glibc

/// The one thread on which an actor's jobs run, in the order they came.
///
/// An actor with an executor of its own stays on it; a default actor that is reached under a task executor preference
/// runs on the preferred threads, behind whatever blocks them.
package final class SerialThreadExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isStopped = false
        var thread: pthread_t?
    }

    private let queue = WaitQueue(State())

    package init(name: String) {
        let queue = self.queue
        // The thread holds the queue, not the executor, so that it ends when the last owner lets go.
        WorkerThread.start(name: name) { [executor = Unowned(self)] in
            queue.withLock { $0.thread = pthread_self() }
            while true {
                let batch: [UnownedJob]? = queue.wait { state in
                    if !state.jobs.isEmpty {
                        let jobs = state.jobs
                        state.jobs = []
                        return .some(.some(jobs))
                    }
                    return state.isStopped ? .some(.none) : nil
                }
                guard let batch else { return }
                for job in batch {
                    // A job keeps its actor alive, the actor its executor: the reference is good while there is a job.
                    job.runSynchronously(on: executor.reference)
                }
            }
        }
    }

    deinit {
        queue.change(wakingAll: true) { $0.isStopped = true }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.change { $0.jobs.append(job) }
    }

    package func checkIsolated() {
        let thread = queue.withLock { $0.thread }
        precondition(thread == pthread_self(), "not on this executor's thread")
    }

    private struct Unowned: Sendable {
        let reference: UnownedSerialExecutor
        init(_ executor: SerialThreadExecutor) { reference = executor.asUnownedSerialExecutor() }
    }
}
