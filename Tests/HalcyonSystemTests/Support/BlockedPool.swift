import Foundation
import HalcyonSystem
import Testing

/// A pool of one thread that is busy until it is released, so that what is queued meanwhile waits.
struct BlockedPool {
    let pool: ThreadPool
    private let gate = Gate()
    private let record = Record()

    init() async {
        pool = ThreadPool(name: "blocked", threads: 1)
        let (entered, gate) = (Gate(), gate)
        pool.submit(priority: .veryHigh) {
            entered.open()
            gate.block()
        }
        await entered.opened()
    }

    func release() { gate.open() }

    /// The names of the work that ran, in its order.
    var ran: [String] { record.names }

    /// Queues work that only notes its name. It waits in the pool when this returns.
    @discardableResult
    func queue(_ name: String, _ ticket: WorkTicket) -> Task<Void, any Error> {
        let (pool, record) = (pool, record)
        // Runs on this thread up to where it waits.
        return Task.immediate { try await pool.run(ticket: ticket) { _ in record.note(name) } }
    }

    /// Queues work without a waiter.
    func submit(_ name: String, _ priority: RequestPriority) {
        let record = record
        pool.submit(priority: priority) { record.note(name) }
    }

    /// Releases the thread and waits until it has nothing left.
    func drain() async throws {
        let last = queue("last", WorkTicket(priority: .veryLow))
        release()
        try await last.value
        try #require(ran.last == "last")
    }
}

/// Names in the order they came.
final class Record: Sendable {
    private let state = Lock<[String]>([])

    var names: [String] { state.withLock { $0 } }

    func note(_ name: String) {
        state.withLock { $0.append(name) }
    }
}

/// The kernel's name of the calling thread.
func threadName() -> String {
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return name?.trimmingCharacters(in: .newlines) ?? ""
}
