/// Does something again and again, for as long as this is kept.
package final class RepeatingWork: Sendable {
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - interval: from the end of one turn to the start of the next; the first turn comes after it, too.
    ///   - body: must not keep whatever keeps this.
    package init(every interval: Duration, timeSource: TimeSource, _ body: @escaping @Sendable () async -> Void) {
        task = Task.detached(priority: .low) {
            while (try? await timeSource.wait(for: interval)) != nil, !Task.isCancelled { await body() }
        }
    }

    deinit {
        task.cancel()
    }
}
