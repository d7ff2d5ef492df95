/// A reader's hold on the events of a load. Once it is cancelled or dropped, nothing is kept for it any more.
final class EventReader: Sendable {
    private let events: PendingEvents
    private let onLeave: @Sendable () -> Void

    /// - Parameter onLeave: called when the reader leaves, also after the end, and perhaps more than once.
    init(_ events: PendingEvents, onLeave: @escaping @Sendable () -> Void) {
        self.events = events
        self.onLeave = onLeave
    }

    deinit {
        leave()
    }

    /// The next event, nil after the last and where the reading task is cancelled.
    func next() async throws -> ImageEvent? {
        try await withTaskCancellationHandler {
            try await events.next()
        } onCancel: {
            leave()
        }
    }

    private func leave() {
        events.close()
        onLeave()
    }
}
