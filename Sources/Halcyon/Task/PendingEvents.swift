/// The events that a reader has not read yet: of the progress only the newest, of the previews each, and the end.
final class PendingEvents: Sendable {
    private typealias Reader = CheckedContinuation<ImageEvent?, any Error>

    private struct State {
        var events: [ImageEvent] = []
        /// Where among them the progress is.
        var progress: Int?
        /// Thrown once, after the events.
        var failure: (any Error)?
        var hasEnded = false
        /// They wait only while there is nothing to read.
        var readers: [Reader] = []

        mutating func add(_ event: ImageEvent) {
            if case .progress = event {
                // Taken out, not overwritten: it is newer than the previews behind it.
                if let progress { events.remove(at: progress) }
                progress = events.count
            }
            events.append(event)
        }

        /// The next event, nil once there are no more; no result while there may be.
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

    /// Forgets everything; whoever reads sees an end, and nothing is kept any more.
    func close() {
        change { state in
            (state.events, state.progress, state.failure) = ([], nil, nil)
            state.hasEnded = true
        }
    }

    /// Waits for the next event; `close` ends the wait.
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
