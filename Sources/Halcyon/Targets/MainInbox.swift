import HalcyonSystem

/// What is to be done on the main actor, in order, in one go: a hundred loads that end together wake it once.
package final class MainInbox: Sendable {
    package static let shared = MainInbox()

    private let waiting = Lock<[@MainActor @Sendable () -> Void]>([])

    package func add(_ work: @escaping @MainActor @Sendable () -> Void) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(work)
            return waiting.count == 1
        }
        if isFirst { Task { @MainActor in self.drain() } }
    }

    @MainActor private func drain() {
        let work = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for work in work { work() }
    }
}
