import HalcyonSystem

/// The events that a reader has not read yet: the newest progress, every preview, and the end.
final class PendingEvents: Sendable {
    private typealias Reader = CheckedContinuation<ImageEvent?, any Error>

    private struct State {
        var events: [ImageEvent] = []
        /// The index of the progress in `events`.
        var progress: Int?
        /// The error that is thrown once, after the events.
        var failure: (any Error)?
        var hasEnded = false
        /// The readers that wait. They wait only while there is nothing to read.
        var readers: [Reader] = []

        mutating func add(_ event: ImageEvent) {
            if case .progress = event {
                // The former progress is removed, not overwritten: the new one is newer than the previews behind the
                // former.
                if let progress { events.remove(at: progress) }
                progress = events.count
            }
            events.append(event)
        }

        /// Returns the next event, or nil once there are no more; returns no result while there may be more.
        mutating func next() -> Result<ImageEvent?, any Error>? {
            if !events.isEmpty {
                progress = progress.flatMap { $0 == 0 ? nil : $0 - 1 }
                return .success(events.removeFirst())
            }
            guard hasEnded else { return nil }
            defer { failure = nil }
            return failure.map { .failure($0) } ?? .success(nil)
        }
    }

    private let state = Lock(State())

    func add(_ event: ImageEvent) {
        change { if !$0.hasEnded { $0.add(event) } }
    }

    func end(_ result: Result<ImageResponse, any Error>) {
        change { state in
            if state.hasEnded { return }
            switch result {
            case .success(let response): state.add(.finished(response))
            case .failure(let error): state.failure = error
            }
            state.hasEnded = true
        }
    }

    /// Discards all events and keeps none from now on. Every reader reads the end.
    func close() {
        change { state in
            (state.events, state.progress, state.failure) = ([], nil, nil)
            state.hasEnded = true
        }
    }

    /// Returns the next event, after a wait if there is none yet; `close` ends the wait.
    func next() async throws -> ImageEvent? {
        try await withCheckedThrowingContinuation { reader in
            let answer = state.withLock { state -> Result<ImageEvent?, any Error>? in
                let answer = state.next()
                if answer == nil { state.readers.append(reader) }
                return answer
            }
            if let answer { reader.resume(with: answer) }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let answered = state.withLock { state -> [(Reader, Result<ImageEvent?, any Error>)] in
            body(&state)
            var answered: [(Reader, Result<ImageEvent?, any Error>)] = []
            while !state.readers.isEmpty, let answer = state.next() {
                answered.append((state.readers.removeFirst(), answer))
            }
            return answered
        }
        for (reader, answer) in answered { reader.resume(with: answer) }
    }
}

/// The connection of a reader to the events of a load. Once the reading is cancelled or this is released, no events are
/// kept for it.
final class EventReader: Sendable {
    private let events: PendingEvents
    private let onLeave: @Sendable () -> Void

    /// Creates the connection.
    ///
    /// - Parameter onLeave: called when the reader leaves, also after the end, and possibly more than once.
    init(_ events: PendingEvents, onLeave: @escaping @Sendable () -> Void) {
        self.events = events
        self.onLeave = onLeave
    }

    deinit {
        leave()
    }

    /// Returns the next event; nil after the last one, and if the reading task is cancelled.
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
