import Glibc

/// A fixed number of threads that serve one queue: highest priority first, and first come, first served within a priority.
package final class ThreadPool: Sendable {
    private let queue: WaitQueue<WorkQueue>
    package let threadCount: Int

    /// Starts `threads` threads, at least one.
    package init(name: String, threads: Int) {
        threadCount = max(1, threads)
        let queue = WaitQueue(WorkQueue(poolName: name))
        self.queue = queue
        _ = ProgramEnd.isWatched
        for index in 0..<threadCount {
            WorkerThread.startOrBorrow(name: "\(name)-\(index)") { Self.serve(queue) { $0.isStopped } }
        }
    }

    /// Runs queued work until `isOver` returns true.
    private static func serve(_ queue: WaitQueue<WorkQueue>, until isOver: @Sendable (WorkQueue) -> Bool) {
        let before = pthread_getspecific(currentQueue)
        // The queue outlives this function.
        pthread_setspecific(currentQueue, Unmanaged.passUnretained(queue).toOpaque())
        defer { pthread_setspecific(currentQueue, before) }
        while true {
            let next: (item: WorkQueue.Item, work: WorkQueue.Work)?? = queue.wait { state in
                // A pool that stops still runs the queued work.
                if !isOver(state) || state.isStopped, let next = state.pop() { return .some(.some(next)) }
                return isOver(state) ? .some(.none) : nil
            }
            guard let next = next ?? nil else { return }
            next.item.leaveTicket()
            ProgramEnd.run(next.work.run)
        }
    }

    /// The thread-specific key of the queue that the thread serves.
    private static let currentQueue: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Whether the calling thread is one of a pool.
    static var isCurrent: Bool { pthread_getspecific(currentQueue) != nil }

    private static let reliefCount = Lock(0)
    private static let maximumRelief = 256

    /// Runs a `body` that blocks until other work, possibly of the same pool, is done. If the calling thread is one of a pool,
    /// another thread serves the pool's queue meanwhile: otherwise, with all threads blocked, the work that they wait for would
    /// never run.
    package static func blocking<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard let pointer = pthread_getspecific(currentQueue) else { return try body() }
        let queue = Unmanaged<WaitQueue<WorkQueue>>.fromOpaque(pointer).takeUnretainedValue()
        // The limit is safe: with so many blocked threads, work that holds what they wait for has long been started.
        guard reliefCount.withLock({ $0 < maximumRelief ? ($0 += 1, true).1 : false }) else { return try body() }
        let isOver = Lock(false)
        // Threads of a pool are recognized by its name, whichever of them runs the work.
        WorkerThread.startOrBorrow(name: queue.withLock { $0.poolName } + "+") {
            Self.serve(queue) { state in state.isStopped || isOver.withLock { $0 } }
            reliefCount.withLock { $0 -= 1 }
        }
        defer {
            isOver.withLock { $0 = true }
            queue.change(wakingAll: true) { _ in }
        }
        return try body()
    }

    deinit {
        queue.change(wakingAll: true) { $0.isStopped = true }
    }

    /// Runs `body` on one of the threads and waits for its result.
    ///
    /// - Throws: any error of `body`; `CancellationError` when the ticket or the awaiting task is cancelled before `body` ran.
    package func run<Value: Sendable>(
        ticket: WorkTicket = WorkTicket(),
        _ body: @escaping @Sendable (WorkContext) throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let context = ticket.context
                submit(
                    ticket: ticket,
                    run: { continuation.resume(with: Result { try body(context) }) },
                    abandon: { continuation.resume(throwing: CancellationError()) })
            }
        } onCancel: {
            ticket.cancel()
        }
    }

    /// Queues `body` without waiting for it.
    package func submit(priority: RequestPriority = .normal, _ body: @escaping @Sendable () -> Void) {
        submit(ticket: WorkTicket(priority: priority), run: body, abandon: {})
    }

    func submit(
        ticket: WorkTicket, run: @escaping @Sendable () -> Void, abandon: @escaping @Sendable () -> Void
    ) {
        let item = WorkQueue.Item(in: queue, ticket, (run, abandon))
        guard ticket.add(item) else { return abandon() }
        // A ticket that is cancelled just now has taken the work: its entry in the queue is void.
        item.push()
    }
}

/// The queued work of a `ThreadPool`, in one bucket for each priority.
private struct WorkQueue {
    typealias Work = (run: @Sendable () -> Void, abandon: @Sendable () -> Void)

    /// A piece of work that is taken once: by the thread that runs it or by the caller that cancels it.
    final class Item: WorkTicketListener {
        private struct State {
            var work: Work?
            var bucket = 0
        }

        private let state: Lock<State>
        private let queue: WaitQueue<WorkQueue>
        private let ticket: WorkTicket

        init(in queue: WaitQueue<WorkQueue>, _ ticket: WorkTicket, _ work: Work) {
            (self.queue, self.ticket, state) = (queue, ticket, Lock(State(work: work)))
        }

        /// Queues the work at the ticket's priority, which is read under the queue's lock, so that the last change counts.
        func push() {
            queue.change { $0.push(self, ticket.priority) }
        }

        /// - Parameter bucket: the bucket that the work must be in; nil takes it from any.
        func take(from bucket: Int? = nil) -> Work? {
            state.withLock { state in
                guard bucket == nil || bucket == state.bucket else { return nil }
                defer { state.work = nil }
                return state.work
            }
        }

        func move(to bucket: Int) {
            state.withLock { $0.bucket = bucket }
        }

        func leaveTicket() {
            ticket.remove(self)
        }

        func cancelled() {
            take()?.abandon()
        }

        func priorityChanged(of ticket: WorkTicket) {
            push()
        }
    }

    let poolName: String
    private var buckets = [Fifo<Item>](repeating: Fifo(), count: RequestPriority.allCases.count)
    var isStopped = false

    init(poolName: String) {
        self.poolName = poolName
    }

    /// Adds work, or moves it to another bucket: its entry in the former bucket becomes void.
    mutating func push(_ item: Item, _ priority: RequestPriority) {
        item.move(to: priority.rawValue)
        buckets[priority.rawValue].append(item)
    }

    mutating func pop() -> (item: Item, work: Work)? {
        for index in buckets.indices.reversed() {
            while let item = buckets[index].popFirst() {
                if let work = item.take(from: index) { return (item, work) }
            }
        }
        return nil
    }
}

extension ThreadPool {
    /// Runs `body` on one of the threads once `count` bytes are reserved for it, and releases them when it ends.
    ///
    /// The work occupies no thread while it waits for bytes. Once they are granted it is queued at once, so that their release
    /// depends only on the pool's own threads.
    ///
    /// - Parameter count: the number of bytes, at most the capacity.
    /// - Throws: any error of `body`; `CancellationError` when the ticket or the awaiting task is cancelled before `body` ran.
    package func run<Value: Sendable>(
        ticket: WorkTicket, reserving count: Int, of budget: ByteBudget,
        _ body: @escaping @Sendable (WorkContext) throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                budget.wait(
                    for: count, ticket: ticket,
                    grant: {
                        self.submit(
                            ticket: ticket,
                            run: {
                                let result = Result { try body(ticket.context) }
                                budget.release(count)
                                continuation.resume(with: result)
                            },
                            abandon: {
                                budget.release(count)
                                continuation.resume(throwing: CancellationError())
                            })
                    },
                    abandon: { continuation.resume(throwing: CancellationError()) })
            }
        } onCancel: {
            ticket.cancel()
        }
    }
}

/// The threads of the process for blocking work, so that it blocks neither actors nor the program's own tasks.
///
/// Coordination runs on a pipeline's actor, which has a `SerialThreadExecutor`; the two pools here are the other two domains.
/// All pipelines share them, as they share the disk and the cores, unless one has `ProcessingThreads` of its own.
package enum ThreadPools {
    /// The pool for blocking file input and output.
    package static let io = ThreadPool(name: "halcyon-io", threads: 2)
    /// The pool for decoding, processing and encoding: as many threads as the system grants cores.
    package static let cpu = ThreadPool(name: "halcyon-cpu", threads: SystemGrant.current.cores)
}
