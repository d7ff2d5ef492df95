import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// An event that a job sends to its subscribers before its result.
enum JobEvent: Sendable {
    case progress(LoadProgress)
    /// More of the body has arrived. A load that shows previews makes them from it.
    case body(ReceivedBody)
    case preview(ImagePreview)
    /// A preview as the request that an interceptor has made delivers it.
    case delivered(ImagePreview)
    /// The disk has bytes that must be revalidated. A load that shows stale images decodes them.
    case stale(FetchedData)
    /// The body is complete and about to be decoded: no more previews are made from it.
    case arrived
    /// A fact for metrics and pipeline events.
    case note(LoadNote)
}

/// A fact that a stage reports to each load that shares it.
///
/// A class, since each of a thousand loads that share a stage receives it, and a copy of a kind retains all that it holds.
final class LoadNote: Sendable {
    let kind: PipelineEvent.Kind
    /// The duration of the look-up, if the note is about one.
    let took: Duration?
    /// Whether a load has reported the note: the first one that receives it. For the others it is shared work.
    @JobActor var isReported = false

    init(_ kind: PipelineEvent.Kind, took: Duration?) {
        (self.kind, self.took) = (kind, took)
    }
}

/// The interest of one subscriber in a job: its priority, and the receiver of the job's events.
///
/// Subscriptions are the edges of the job graph. A load has one at the root. Each job has one of its own for the jobs and
/// threads that it waits for, with the highest priority of its subscribers. Priority flows down along subscriptions,
/// progress and previews flow up.
@JobActor
class Subscription {
    private(set) var priority: RequestPriority
    /// Whether `cancel()` was called. A cancelled subscription joins no more jobs.
    private(set) var isCancelled = false
    /// The threads of the pipeline for codecs and processors.
    let threads: ThreadPool
    private let receive: (@JobActor (JobEvent) -> Void)?
    /// The work that the subscription waits for: one at a time, except for early images.
    private var works: [any SubscribedWork] = []

    init(priority: RequestPriority, threads: ThreadPool, receive: (@JobActor (JobEvent) -> Void)?) {
        self.priority = priority
        self.threads = threads
        self.receive = receive
    }

    // MARK: - Events

    func send(_ event: JobEvent) {
        receive?(event)
    }

    /// Reports a fact to each waiting load.
    func note(_ kind: PipelineEvent.Kind, took: Duration? = nil) {
        send(.note(LoadNote(kind, took: took)))
    }

    // MARK: - Priority

    func setPriority(_ newValue: RequestPriority) {
        guard priority != newValue else { return }
        priority = newValue
        for work in works { work.setPriority(newValue) }
    }

    /// Adds work that has this priority until it is removed, and ends if the subscription is cancelled.
    func add(_ work: any SubscribedWork) {
        works.append(work)
    }

    func remove(_ work: any SubscribedWork) {
        works.removeAll { $0 === work }
    }

    // MARK: - Cancellation

    /// Cancels the work that the subscription waits for, and leaves shared jobs. Each wait ends with `CancellationError`.
    func cancel() {
        isCancelled = true
        for work in works { work.cancel() }
    }

    /// Checks for cancellation.
    ///
    /// - Throws: `CancellationError` after `cancel()`, and in a task that is cancelled.
    func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
        try Task.checkCancellation()
    }

    // MARK: - Work

    /// Runs `body` on the pipeline's threads with this priority, until the current task is cancelled.
    func compute<Value: Sendable>(
        _ body: @escaping @Sendable (WorkContext) throws -> Value
    ) async throws -> Value {
        try await withTicket { try await threads.run(ticket: $0, body) }
    }

    /// Runs `body` on the pipeline's threads once `bytes` of `budget` are reserved.
    ///
    /// - Throws: `CodecError.limitExceeded` if the bytes are more than the whole budget, and the errors of `body`.
    func compute<Value: Sendable>(
        reserving bytes: Int, of budget: DecodeBudget, _ body: @escaping @Sendable (WorkContext) throws -> Value
    ) async throws -> Value {
        try budget.check(bytes)
        return try await withTicket {
            try await threads.run(ticket: $0, reserving: bytes, of: budget.bytes, body)
        }
    }

    /// Calls `work` with a ticket that keeps this priority.
    func withTicket<Value: Sendable>(
        _ work: @JobActor (WorkTicket) async throws -> Value
    ) async rethrows -> Value {
        let ticket = WorkTicket(priority: priority)
        add(ticket)
        defer { remove(ticket) }
        return try await work(ticket)
    }
}

/// Work that a subscription waits for: a job that others may share, or work with a ticket of its own.
@JobActor
protocol SubscribedWork: AnyObject {
    func setPriority(_ priority: RequestPriority)
    func cancel()
}

extension Subscription: SubscribedWork {}

extension WorkTicket: SubscribedWork {
    func setPriority(_ priority: RequestPriority) {
        self.priority = priority
    }
}
