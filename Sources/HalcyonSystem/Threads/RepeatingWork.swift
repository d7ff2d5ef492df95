/// Work that is repeated for as long as this object lives.
package final class RepeatingWork: Sendable {
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - interval: the time from the end of one run to the start of the next, and before the first.
    ///   - body: the work; it must not retain the owner of this object.
    package init(every interval: Duration, timeSource: TimeSource, _ body: @escaping @Sendable () async -> Void) {
        task = Task.detached(priority: .low) {
            while (try? await timeSource.wait(for: interval)) != nil, !Task.isCancelled { await body() }
        }
    }

    deinit {
        task.cancel()
    }
}
