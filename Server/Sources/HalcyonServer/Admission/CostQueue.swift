import Halcyon
import HalcyonSystem
import NIOConcurrencyHelpers
import Synchronization

/// A queue by cost in front of work that takes much of the machine: a bound of the cost at work, bounds of the places that wait,
/// and a refusal at once for all others.
///
/// Places are taken in the order of their arrival, the higher priority first. Callers with the same key share one place. A caller
/// whose task is cancelled leaves its place at once. Entering and leaving take one lock and a time that grows with the places
/// that wait.
public final class CostQueue<Key: Hashable & Sendable>: Sendable {
    /// The numbers of a queue at one moment.
    public struct Statistics: Hashable, Sendable {
        /// The places at work, and their cost.
        public var working = 0
        public var workingCost = 0
        /// The places that wait, and their cost.
        public var waiting = 0
        public var waitingCost = 0
        /// The callers that have these places or wait for them.
        public var callers = 0
        /// The callers that were refused so far.
        public var refusals = 0
    }

    /// The room for a caller that has asked for it before it knows its cost. It is kept free until the caller enters for its last
    /// work, or drops it; no lasting load refuses the caller from then on.
    public final class Expectation: Sendable {
        private let queue: CostQueue
        private let isOpen = Atomic(true)

        fileprivate init(_ queue: CostQueue) { self.queue = queue }

        deinit {
            if isOpen.load(ordering: .relaxed) { queue.books.withLockedValue { $0.state.endExpecting() } }
        }

        /// Returns false from the second time on.
        fileprivate func use() -> Bool { isOpen.exchange(false, ordering: .relaxed) }
    }

    private struct Books {
        var state: CostQueueState<Key>
        var turns: [Int: CheckedContinuation<Void, any Error>] = [:]
        var timers: [Int: Task<Void, Never>] = [:]
        var members = 0
        var refusals = 0
    }

    /// The bounds.
    public let limits: CostQueueLimits
    private let time: TimeSource
    private let books: NIOLockedValueBox<Books>

    /// Creates a queue.
    ///
    /// - Parameter time: the clock of the waiting times, the system's by default.
    public init(limits: CostQueueLimits, time: TimeSource = .system) {
        (self.limits, self.time) = (limits, time)
        books = NIOLockedValueBox(Books(state: CostQueueState(limits: limits)))
    }

    /// The numbers of the queue now.
    public var statistics: Statistics {
        books.withLockedValue {
            Statistics(
                working: $0.state.workingCount, workingCost: $0.state.workingCost, waiting: $0.state.waitingCount,
                waitingCost: $0.state.waitingCost, callers: $0.state.memberCount, refusals: $0.refusals)
        }
    }

    /// Waits for a place, does the work and gives the place back.
    ///
    /// - Parameters:
    ///   - key: callers with equal keys have one place together, whose cost is that of the first.
    ///   - cost: at least 1; less counts as 1.
    ///   - expectation: the room that the caller was promised; nil, the default, is none.
    ///   - isLast: whether the room is kept for no other work behind this one, which is the default.
    /// - Throws: `CostQueueRefusal`; `CancellationError`; the errors of the work.
    public nonisolated(nonsending) func withPlace<Value>(
        for key: Key, cost: Int, priority: RequestPriority = .normal, expectation: Expectation? = nil,
        isLast: Bool = true, _ work: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        let member = books.withLockedValue { books in
            books.members += 1
            return books.members
        }
        try await withTaskCancellationHandler {
            try await wait(member, key, cost: max(cost, 1), priority, expectation, isLast: isLast)
        } onCancel: {
            end(member, throwing: CancellationError())
        }
        defer { leave(member) }
        return try await work()
    }

    /// Refuses a caller whose cost is not known yet, and who would wait in vain before it asks for a place.
    ///
    /// - Throws: `CostQueueRefusal` if a place of the average cost of all others, behind those that are expected, would be refused
    ///   now.
    public func check() throws(CostQueueRefusal) { try check(expects: false) }

    /// Makes room for a caller whose cost is not known yet, and who does something first that would be in vain without a place.
    ///
    /// - Throws: as `check` does.
    public func expect() throws(CostQueueRefusal) -> Expectation {
        try check(expects: true)
        return Expectation(self)
    }

    private func check(expects: Bool) throws(CostQueueRefusal) {
        let now = time.now
        let refusal = books.withLockedValue { books in
            let refusal = books.state.refusal(at: now)
            if refusal != nil { books.refusals += 1 } else if expects { books.state.expect() }
            return refusal
        }
        if let refusal { throw refusal }
    }

    /// Whether a caller with this key has a place or waits for one.
    func has(_ key: Key) -> Bool { books.withLockedValue { $0.state.has(key) } }

    private nonisolated(nonsending) func wait(
        _ member: Int, _ key: Key, cost: Int, _ priority: RequestPriority, _ expectation: Expectation?,
        isLast: Bool
    ) async throws {
        let now = time.now
        try await withCheckedThrowingContinuation { turn in
            let result: Result<Void, any Error>? = books.withLockedValue { books in
                // A cancellation that comes later finds the continuation.
                if Task.isCancelled { return .failure(CancellationError()) }
                if isLast, expectation?.use() == true { books.state.endExpecting() }
                switch books.state.enter(
                    member, key, cost: cost, priority: priority, at: now, isExpected: expectation != nil)
                {
                case .admitted: return .success(())
                case .refused(let refusal):
                    books.refusals += 1
                    return .failure(refusal)
                case .waits:
                    books.turns[member] = turn
                    books.timers[member] = Task { [self] in
                        guard (try? await time.wait(for: limits.waitingTime)) != nil else { return }
                        end(member, throwing: CostQueueRefusal.waitedTooLong)
                    }
                    return nil
                }
            }
            if let result { turn.resume(with: result) }
        }
    }

    /// Ends the wait of a caller; nothing happens if it has its place.
    private func end(_ member: Int, throwing error: any Error) {
        let (turn, admitted) = books.withLockedValue { books -> (CheckedContinuation<Void, any Error>?, [Turn]) in
            guard let turn = books.turns.removeValue(forKey: member) else { return (nil, []) }
            books.timers.removeValue(forKey: member)?.cancel()
            if error is CostQueueRefusal { books.refusals += 1 }
            return (turn, Self.turns(of: books.state.leave(member), &books))
        }
        turn?.resume(throwing: error)
        for turn in admitted { turn.resume() }
    }

    private func leave(_ member: Int) {
        let admitted = books.withLockedValue { Self.turns(of: $0.state.leave(member), &$0) }
        for turn in admitted { turn.resume() }
    }

    private typealias Turn = CheckedContinuation<Void, any Error>

    private static func turns(of members: [Int], _ books: inout Books) -> [Turn] {
        members.compactMap { member in
            books.timers.removeValue(forKey: member)?.cancel()
            return books.turns.removeValue(forKey: member)
        }
    }
}
