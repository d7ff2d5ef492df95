import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// An event of a load in a pipeline.
///
/// Work that several loads share is reported once for each of them.
public struct PipelineEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
        /// The first event of a load.
        case started
        /// A cache has the image, or the bytes that it is made from; the rule is nil for a file or data.
        case cacheHit(CacheLevel, CacheRule?)
        /// A cache could not answer, or was not asked.
        case cacheMissed(CacheMiss)
        /// A transfer was requested, and waits for its turn.
        case transferStarted
        /// The transfer succeeded, possibly after redirects and retries.
        case transferEnded(TransferSummary)
        /// The transfer failed, after any retries.
        case transferFailed(DownloadError)
        /// An attempt failed and is followed by another.
        case retried(DownloadError, attempt: Int)
        /// The source failed, and an alternative is tried: its name, without its query.
        case alternativeTried(String)
        /// The image was decoded, before its processors; the time includes the wait for a thread.
        case decoded(PixelSize, Duration)
        /// A processor, or several in one piece of work, ran; the time includes the wait for a thread.
        case processed(Duration)
        /// The image was encoded for a web response; the time includes the wait for a thread.
        case encoded(bytes: Int, Duration)
        /// A cache has accepted the image. A later failure to write to the disk is counted in the disk's `statistics`.
        case stored(CacheLevel)
        /// No cache may keep the image.
        case notStored(CacheRule.Reason)
        /// The last event of a load.
        case ended(End)
    }

    /// The end of a load.
    public enum End: Sendable {
        /// The image was delivered, from this origin.
        case success(ImageOrigin, LoadMetrics)
        /// The load failed.
        case failure(ImagePipelineError)
        /// The load was cancelled.
        case cancelled
    }

    /// The number of the event in its stream: 1 for the first, and one more for each event that follows. A gap shows how
    /// many events a slow reader has missed.
    public let number: Int
    /// The number of the load within its pipeline.
    public let load: Int
    /// The name of the requested source, without query, user and password.
    public let source: String
    /// The kind of the event, with its details.
    public let kind: Kind
    /// Whether another load has reported this piece of work, which the two share. False for the first one.
    public let isShared: Bool
}

extension PipelineEvent: CustomStringConvertible {
    public var description: String { "load \(load) of \(source): \(kind)" }
}

extension PipelineEvent.Kind: CustomStringConvertible {
    public var description: String {
        switch self {
        case .started: "started"
        case .cacheHit(let level, let rule):
            rule.map { "hit in \(level.rawValue) (\($0))" } ?? "hit in \(level.rawValue)"
        case .cacheMissed(let miss): "missed in \(miss.level.rawValue) (\(miss.reason.rawValue))"
        case .transferStarted: "transfer started"
        case .transferEnded(let summary): "transfer ended: status \(summary.status), \(summary.bytes) bytes"
        case .transferFailed(let error): "transfer failed: \(error.reasonText)"
        case .retried(let error, let attempt):
            "attempt \(attempt) failed, tried again: \(DownloadError.text(of: error.reason))"
        case .alternativeTried(let source): "tried instead: \(source)"
        case .decoded(let size, let time): "decoded \(size) in \(time)"
        case .processed(let time): "processed in \(time)"
        case .encoded(let bytes, let time): "encoded \(bytes) bytes in \(time)"
        case .stored(let level): "stored in \(level.rawValue)"
        case .notStored(let reason): "not stored: \(reason)"
        case .ended(.success(let origin, let metrics)): "ended: from \(origin.rawValue) in \(metrics.total)"
        case .ended(.failure(let error)): "failed: \(error.code): \(error.reason)"
        case .ended(.cancelled): "cancelled"
        }
    }
}

extension ImagePipeline {
    /// The events of all loads of this pipeline from now on. The latest 1,024 events are kept for a slow reader.
    public var events: AsyncStream<PipelineEvent> { events(bufferingNewest: 1024) }

    /// Returns the events of all loads of this pipeline from now on.
    ///
    /// Each call makes a stream of its own, with numbers of its own, which ends with the pipeline. Without a reader no
    /// events are made or kept. A load that began before reports only its remaining events.
    ///
    /// - Parameters:
    ///   - limit: the number of events that are kept for a slow reader, at least one. Beyond that the oldest are dropped,
    ///     and the gap in `PipelineEvent.number` shows how many.
    ///   - includesMemoryHits: whether loads that memory answers are reported, true by default. Without a reader of them,
    ///     a look-up in memory makes no events; `ImageCache.memoryStatistics` counts hits in any case.
    public func events(
        bufferingNewest limit: Int, includesMemoryHits: Bool = true
    ) -> AsyncStream<PipelineEvent> {
        coordinator.hub.stream(bufferingNewest: limit, wantsMemoryHits: includesMemoryHits)
    }

    /// Calls `receive` with each event of the loads that memory does not answer, in order, until the task is cancelled: on the
    /// jobs' thread, or on that of a caller. No event is dropped, and none wakes a thread.
    package func receiveEvents(_ receive: @escaping @Sendable (PipelineEvent) -> Void) async {
        let reader = coordinator.hub.add(wantsMemoryHits: false, receive: receive)
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        // Ends when the task is cancelled.
        for await _ in never {}
        // Released only now: a stream without a continuation ends at once.
        continuation.finish()
        coordinator.hub.leave(reader)
    }
}
