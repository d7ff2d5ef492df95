import Foundation

/// A load that is under way: watch it, change its priority, call it off.
///
/// It ends exactly once, and keeps what it said for who asks late. Every member may be used from any thread and returns
/// at once.
public final class ImageTask: Sendable {
    /// How far a load is.
    public enum Status: Sendable, Hashable {
        case running(LoadProgress?)
        case finished
        case failed
        case cancelled
    }

    public var request: ImageRequest { resolved.request }

    let resolved: ResolvedRequest

    private struct State {
        var priority: RequestPriority
        var result: Result<ImageResponse, any Error>?
        var progress: LoadProgress?
        var preview: ImagePreview?
        var nextObserver = 0
        var observers: [Int: Observer] = [:]
        var isStarted = false
    }

    private struct Observer {
        let event: @Sendable (ImageEvent) -> Void
        let end: @Sendable (Result<ImageResponse, any Error>) -> Void
    }

    private let state: Lock<State>
    private let coordinator: Coordinator

    init(_ resolved: ResolvedRequest, coordinator: Coordinator) {
        self.resolved = resolved
        self.coordinator = coordinator
        state = Lock(State(priority: resolved.request.priority))
    }

    // MARK: - For users

    public var status: Status {
        state.withLock { state in
            switch state.result {
            case nil: .running(state.progress)
            case .success: .finished
            case .failure(is CancellationError): .cancelled
            case .failure: .failed
            }
        }
    }

    /// How urgent the load is. A change reaches what is waiting at once: transfers, decodes, processors.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            let isRunning = state.withLock { state -> Bool in
                guard state.priority != newValue else { return false }
                state.priority = newValue
                return state.isStarted && state.result == nil
            }
            guard isRunning else { return }
            coordinator.perform { $0.priorityChanged(of: self) }
        }
    }

    /// Ends the load with `CancellationError`, unless it has ended. Work that nobody else waits for stops.
    public func cancel() {
        end(.failure(CancellationError()))
    }

    /// The result, also long after the end.
    ///
    /// Cancelling the task that waits here cancels the load.
    ///
    /// - Throws: `ImagePipelineError`, `CancellationError`.
    public var response: ImageResponse {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    observe(event: { _ in }, end: { continuation.resume(with: $0) })
                }
            } onCancel: {
                cancel()
            }
        }
    }

    /// What happens to the load, from the latest progress and preview on. Any number of readers; each sees the end.
    ///
    /// A reader that is slow gets every preview, and of the progress only the newest that it has not read yet.
    /// A reader that stops reading leaves the load running.
    public var events: AsyncThrowingStream<ImageEvent, any Error> {
        events(cancelsWithReader: false)
    }

    // MARK: - For the pipeline

    func events(cancelsWithReader: Bool) -> AsyncThrowingStream<ImageEvent, any Error> {
        let pending = PendingEvents()
        let observer = observe(event: { pending.add($0) }, end: { pending.end($0) })
        let reader = EventReader(pending) { [weak self] in
            guard let self else { return }
            if let observer { self.state.withLock { $0.observers[observer] = nil } }
            if cancelsWithReader { self.cancel() }
        }
        return AsyncThrowingStream(unfolding: { try await reader.next() })
    }

    /// Calls `end` once, now if the load has ended; before that `event` as often as something happens.
    @discardableResult
    func observe(
        event: @escaping @Sendable (ImageEvent) -> Void,
        end: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void
    ) -> Int? {
        let (number, result) = state.withLock { state -> (Int?, Result<ImageResponse, any Error>?) in
            // Replayed under the lock, so that no later event can overtake them.
            if let progress = state.progress { event(.progress(progress)) }
            if let preview = state.preview { event(.preview(preview)) }
            if let result = state.result { return (nil, result) }
            state.nextObserver += 1
            state.observers[state.nextObserver] = Observer(event: event, end: end)
            return (state.nextObserver, nil)
        }
        if let result { end(result) }
        return number
    }

    func start() {
        state.withLock { $0.isStarted = true }
        coordinator.perform { $0.start(self) }
    }

    var hasEnded: Bool { state.withLock { $0.result != nil } }

    /// The result of a load that never had to begin, since its image was in memory. Not that of one that was quick: when that
    /// is there is chance.
    var immediateResult: Result<ImageResponse, any Error>? { state.withLock { $0.isStarted ? nil : $0.result } }

    /// Called by the coordinator alone, one event after the other.
    func receive(_ event: JobEvent) {
        let told: ImageEvent
        switch event {
        case .body, .stale, .arrived, .note: return
        case .progress(let progress): told = .progress(progress)
        // The request's modifier is foreign code, and may ask this task something: never under the lock.
        case .preview(let preview): told = .preview(resolved.delivered(preview))
        }
        state.withLock { state in
            guard state.result == nil else { return }
            switch told {
            case .progress(let progress): state.progress = progress
            case .preview(let preview): state.preview = preview
            case .finished: break
            }
            // Under the lock, so that every observer sees the events in their order; observers only pass them on.
            for observer in state.observers.values { observer.event(told) }
        }
    }

    /// The first end counts.
    func end(_ result: Result<ImageResponse, any Error>) {
        let (observers, isRunning) = state.withLock { state -> ([Observer], Bool) in
            guard state.result == nil else { return ([], false) }
            state.result = result
            state.preview = nil
            defer { state.observers = [:] }
            return (Array(state.observers.values), state.isStarted)
        }
        if isRunning, case .failure(is CancellationError) = result { coordinator.perform { $0.cancel(self) } }
        for observer in observers { observer.end(result) }
    }
}
