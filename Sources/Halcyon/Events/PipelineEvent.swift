import HalcyonImage
import HalcyonNetwork

/// Something that happened to a load of a pipeline.
///
/// Work that several loads share is told once for each of them.
public struct PipelineEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        case started
        /// A cache has the image, or what it is made of; the rule is nil for a file or data.
        case cacheHit(CachePlace, CacheRule?)
        case cacheMissed(CacheMiss)
        /// The source was asked for, and waits for its turn.
        case transferStarted
        case transferEnded(TransferSummary)
        case transferFailed(DownloadError)
        /// An attempt failed and is followed by another.
        case retried(DownloadError, attempt: Int)
        /// The source failed, and another one stands in: its name, without its query.
        case alternativeTried(String)
        /// The image before its processors, with the wait for a thread.
        case decoded(PixelSize, Duration)
        /// One processor ran, with the wait for a thread.
        case processed(Duration)
        /// The image was encoded for a web response, with the wait for a thread.
        case encoded(bytes: Int, Duration)
        /// A cache has taken it. What a disk cannot write later counts in its `statistics`.
        case stored(CachePlace)
        /// No cache may keep it.
        case notStored(CacheRule.Reason)
        /// The last event of a load.
        case ended(End)
    }

    /// How a load ended.
    public enum End: Sendable {
        case success(ImageOrigin, LoadMetrics)
        case failure(ImagePipelineError)
        case cancelled
    }

    /// Counts up by one with each event that a pipeline tells. A reader who sees a gap was too slow by so many events.
    public let number: Int
    /// The load, numbered within its pipeline.
    public let load: Int
    /// What was asked for, without query, user and password.
    public let source: String
    public let kind: Kind
}

extension PipelineEvent: CustomStringConvertible {
    public var description: String { "load \(load) of \(source): \(kind)" }
}

extension PipelineEvent.Kind: CustomStringConvertible {
    public var description: String {
        switch self {
        case .started: "started"
        case .cacheHit(let place, let rule):
            rule.map { "hit in \(place.rawValue) (\($0))" } ?? "hit in \(place.rawValue)"
        case .cacheMissed(let miss): "missed in \(miss.place.rawValue) (\(miss.reason.rawValue))"
        case .transferStarted: "transfer started"
        case .transferEnded(let summary): "transfer ended: status \(summary.status), \(summary.bytes) bytes"
        case .transferFailed(let error): "transfer failed: \(error.reasonText)"
        case .retried(let error, let attempt):
            "attempt \(attempt) failed, tried again: \(DownloadError.text(of: error.reason))"
        case .alternativeTried(let source): "tried instead: \(source)"
        case .decoded(let size, let time): "decoded \(size) in \(time)"
        case .processed(let time): "processed in \(time)"
        case .encoded(let bytes, let time): "encoded \(bytes) bytes in \(time)"
        case .stored(let place): "stored in \(place.rawValue)"
        case .notStored(let reason): "not stored: \(reason)"
        case .ended(.success(let origin, let metrics)): "ended: from \(origin.rawValue) in \(metrics.total)"
        case .ended(.failure(let error)): "failed: \(error.code): \(error.reason)"
        case .ended(.cancelled): "cancelled"
        }
    }
}
