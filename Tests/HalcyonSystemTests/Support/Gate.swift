import Foundation

/// Something that happens once: threads block until it has, tasks await it.
///
/// `@unchecked Sendable` because everything is touched under the condition's lock.
final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func open() {
        let resumed = condition.withLock {
            isOpen = true
            condition.broadcast()
            defer { waiters = [] }
            return waiters
        }
        for waiter in resumed { waiter.resume() }
    }

    /// Blocks the thread.
    func block() {
        condition.withLock {
            while !isOpen { condition.wait() }
        }
    }

    func opened() async {
        await withCheckedContinuation { continuation in
            let goesOn = condition.withLock {
                if !isOpen { waiters.append(continuation) }
                return isOpen
            }
            if goesOn { continuation.resume() }
        }
    }
}
