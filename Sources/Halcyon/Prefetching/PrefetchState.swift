/// The state of a prefetch. It is a plain value: its owner changes it under the prefetcher's lock, and starts workers or
/// reports the end as the changes require.
struct PrefetchState {
    typealias Progress = ImagePrefetcher.Progress
    typealias Outcome = ImagePrefetcher.Outcome

    private enum Mark: UInt8 {
        case open, finished, skipped, failed
    }

    private let requests: [ImageRequest]
    private var marks: [Mark]
    private var errors: [Int: any Error] = [:]
    /// The index of the first request that no worker has taken.
    private var next = 0
    /// The requests that were looked up, and returned because of a pause.
    private var returned: [Int] = []
    private var isStarted = false
    private var isStopped = false
    private(set) var hasEnded = false
    private var lastWorker = 0
    private(set) var workers: [Int: Task<Void, Never>] = [:]
    private(set) var progress: Progress
    var isPaused = false

    init(_ requests: [ImageRequest]) {
        self.requests = requests
        marks = Array(repeating: .open, count: requests.count)
        progress = Progress(total: requests.count)
    }

    mutating func start() { isStarted = true }

    /// Stops the prefetch.
    ///
    /// - Returns: the workers to cancel.
    mutating func stop() -> [Task<Void, Never>] {
        isStopped = true
        return Array(workers.values)
    }

    private var isOpen: Bool { !returned.isEmpty || next < requests.count }

    /// Starts as many workers as are allowed and have something to do.
    mutating func fill(upTo count: Int, _ launch: (Int) -> Task<Void, Never>) {
        guard isStarted, !isPaused, !isStopped else { return }
        let waiting = returned.count + requests.count - next
        for _ in 0..<max(0, min(count - workers.count, waiting)) {
            lastWorker += 1
            workers[lastWorker] = launch(lastWorker)
        }
    }

    /// Returns the next request for a worker; nil ends the worker.
    mutating func take(by worker: Int) -> (index: Int, request: ImageRequest)? {
        guard !isPaused, !isStopped, isOpen else {
            workers[worker] = nil
            return nil
        }
        if let index = returned.popLast() { return (index, requests[index]) }
        defer { next += 1 }
        return (next, requests[next])
    }

    /// Returns whether a request that has been looked up may be loaded; during a pause, the request is returned to the list.
    mutating func mayLoad(_ index: Int) -> Bool {
        if isStopped { return false }
        if isPaused { returned.append(index) }
        return !isPaused
    }

    /// Records the end of a request.
    ///
    /// - Returns: false if the request is still open.
    mutating func end(_ index: Int, _ end: PrefetchEnd) -> Bool {
        switch end {
        case .open: return false
        case .finished: (marks[index], progress.completed) = (.finished, progress.completed + 1)
        case .skipped: (marks[index], progress.skipped) = (.skipped, progress.skipped + 1)
        case .failed(let error):
            (marks[index], progress.failed) = (.failed, progress.failed + 1)
            errors[index] = error
        }
        return true
    }

    /// Returns the outcome, once: when no worker runs and nothing is left to do.
    mutating func finish() -> Outcome? {
        guard !hasEnded, workers.isEmpty, isStopped || isStarted && !isOpen else { return nil }
        hasEnded = true
        return outcome
    }

    /// The results of the requests so far.
    var outcome: Outcome {
        var outcome = Outcome()
        for (index, request) in requests.enumerated() {
            switch marks[index] {
            case .open: outcome.notStarted.append(request)
            case .finished: outcome.finished.append(request)
            case .skipped: outcome.skipped.append(request)
            case .failed:
                outcome.failed.append(.init(request: request, error: errors[index] ?? CancellationError()))
            }
        }
        return outcome
    }
}
