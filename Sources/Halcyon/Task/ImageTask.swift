import Foundation
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// The handle of a load, with which callers observe it, change its priority or cancel it.
///
/// A load ends exactly once. The task keeps the result, so that it can be read at any time after the end. Every member
/// may be used from any thread and returns at once.
public final class ImageTask: Sendable {
    /// The status of a load.
    public enum Status: Sendable, Hashable {
        /// The load has not ended; the progress is nil until bytes arrive.
        case running(LoadProgress?)
        /// The load ended with an image.
        case finished
        /// The load ended with an error.
        case failed
        /// The load was cancelled.
        case cancelled
    }

    /// The request, with the pipeline's defaults, modifier and providers applied.
    public var request: ImageRequest { resolved.request }

    let resolved: ResolvedRequest

    private struct State {
        var priority: RequestPriority
        var result: Result<ImageResponse, any Error>?
        var progress: LoadProgress?
        /// The steps in which observers receive the progress; nil if they receive all of it.
        var gate: ProgressGate?
        var preview: ImagePreview?
        var nextObserver = 0
        var observers: [Int: DeliveryQueue<Delivered>] = [:]
        /// Called with the end alone.
        var ends: [@Sendable (Result<ImageResponse, any Error>) -> Void] = []
        var isStarted = false
    }

    private enum Delivered: Sendable {
        case event(ImageEvent)
        case end(Result<ImageResponse, any Error>)
    }

    private let state: Lock<State>

    init(_ resolved: ResolvedRequest) {
        self.resolved = resolved
        let gate = resolved.request.progressStep.map(ProgressGate.init)
        state = Lock(State(priority: resolved.request.priority, gate: gate))
    }

    // MARK: - For users

    /// The current status of the load.
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

    /// The priority of the load. A change immediately affects work that is waiting: transfers, decodes, processors.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            let isRunning = state.withLock { state -> Bool in
                guard state.priority != newValue else { return false }
                state.priority = newValue
                return state.isStarted && state.result == nil
            }
            guard isRunning else { return }
            JobActor.perform { self.resolved.coordinator.priorityChanged(of: self) }
        }
    }

    /// Ends the load with `CancellationError`, unless it has ended. Work that no other caller waits for stops.
    public func cancel() {
        end(.failure(CancellationError()))
    }

    /// The result of the load, which can be read at any time, even long after the end.
    ///
    /// Cancelling the task that awaits it cancels the load.
    public var response: ImageResponse {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    onEnd { continuation.resume(with: $0) }
                }
            } onCancel: {
                cancel()
            }
        }
    }

    /// The events of the load, beginning with the latest progress and preview. Any number of readers is possible; each
    /// receives the end.
    ///
    /// The progress comes in the request's `progressStep`. A slow reader receives every preview, but only the newest
    /// progress that it has not read yet. A reader that stops reading leaves the load running.
    public var events: AsyncThrowingStream<ImageEvent, any Error> {
        events(cancelsWithReader: false)
    }

    // MARK: - For the pipeline

    func events(cancelsWithReader: Bool) -> AsyncThrowingStream<ImageEvent, any Error> {
        let pending = PendingEvents()
        let observer = observe(event: { pending.add($0) }, end: { pending.end($0) })
        let reader = EventReader(pending) { [weak self] in
            guard let self else { return }
            // Freed outside the lock.
            let gone = observer.flatMap { number in self.state.withLock { $0.observers.removeValue(forKey: number) } }
            withExtendedLifetime(gone) {}
            if cancelsWithReader { self.cancel() }
        }
        return AsyncThrowingStream(unfolding: { try await reader.next() })
    }

    /// Calls `end` once, on the thread that ends the load, and at once if the load has ended.
    func onEnd(_ end: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void) {
        let result = state.withLock { state in
            if state.result == nil { state.ends.append(end) }
            return state.result
        }
        if let result { end(result) }
    }

    /// Calls `event` with each event, from the latest progress and preview on, then `end` once.
    @discardableResult
    func observe(
        event: @escaping @Sendable (ImageEvent) -> Void,
        end: @escaping @Sendable (Result<ImageResponse, any Error>) -> Void
    ) -> Int? {
        let queue = DeliveryQueue<Delivered> {
            switch $0 {
            case .event(let told): event(told)
            case .end(let result): end(result)
            }
        }
        let number = state.withLock { state -> Int? in
            if let progress = state.progress { queue.add(.event(.progress(progress))) }
            if let preview = state.preview { queue.add(.event(.preview(preview))) }
            if let result = state.result {
                queue.add(.end(result))
                return nil
            }
            state.nextObserver += 1
            state.observers[state.nextObserver] = queue
            return state.nextObserver
        }
        queue.deliver()
        return number
    }

    func start() {
        state.withLock { $0.isStarted = true }
        // Here, where the task-local values are the caller's.
        let trace = resolved.coordinator.configuration.tracer?.beginLoad(of: request.source.description)
        JobActor.submit { self.resolved.coordinator.start(self, trace) }
    }

    var hasEnded: Bool { result != nil }

    /// The end of the load; nil while it is under way.
    var result: Result<ImageResponse, any Error>? { state.withLock { $0.result } }

    /// The result of a load that never had to begin, since its image was in memory or was read synchronously from the
    /// disk. The result of a load that merely ended quickly is not included, since that depends on timing.
    var immediateResult: Result<ImageResponse, any Error>? { state.withLock { $0.isStarted ? nil : $0.result } }

    @JobActor
    func receive(_ event: JobEvent) {
        let told: ImageEvent
        switch event {
        case .body, .stale, .arrived, .note: return
        case .progress(let progress): told = .progress(progress)
        // The request's modifier is foreign code and may call this task, so it never runs under the lock.
        case .preview(let preview): told = .preview(resolved.delivered(preview))
        case .delivered(let preview): told = .preview(preview)
        }
        // A program's own clock is not asked under the lock either.
        let time = resolved.request.progressStep == nil ? .zero : resolved.coordinator.configuration.clock.steady
        let observers = state.withLock { state -> [DeliveryQueue<Delivered>] in
            guard state.result == nil else { return [] }
            switch told {
            case .progress(let progress):
                state.progress = progress
                let isDue = state.gate?.admits(progress.received, of: progress.expected, at: time) ?? true
                guard isDue else { return [] }
            case .preview(let preview): state.preview = preview
            case .finished: break
            }
            for observer in state.observers.values { observer.add(.event(told)) }
            return Array(state.observers.values)
        }
        for observer in observers { observer.deliver() }
    }

    /// Ends the load, unless it has ended: only the first end counts.
    func end(_ result: Result<ImageResponse, any Error>) {
        let ended = state.withLock { state -> State? in
            guard state.result == nil else { return nil }
            state.result = result
            state.preview = nil
            for observer in state.observers.values { observer.add(.end(result)) }
            defer { (state.observers, state.ends) = ([:], []) }
            return state
        }
        guard let ended else { return }
        if ended.isStarted, case .failure(is CancellationError) = result {
            JobActor.perform { self.resolved.coordinator.cancel(self) }
        }
        for end in ended.ends { end(result) }
        for observer in ended.observers.values { observer.deliver() }
    }
}
