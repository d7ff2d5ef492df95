import HalcyonSystem

/// What a body takes of the bytes that may be open at once; they come back when it goes.
final class PartialBodyShare: Sendable {
    private let budget: ByteBudget
    private let held = Lock<[ByteBudget.Hold]>([])

    init(_ budget: ByteBudget) {
        self.budget = budget
    }

    /// False where there are no more.
    func grow(by count: Int) -> Bool {
        guard count > 0 else { return true }
        guard let hold = budget.holdNow(count) else { return false }
        held.withLock { $0.append(hold) }
        return true
    }
}
