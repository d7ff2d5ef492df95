import HalcyonNetwork
import HalcyonSystem
import Logging

/// Writes a pipeline's events to a log.
///
/// Loads are logged at `debug`. Failures that a new attempt would repeat (a status, bytes that are not an image, a
/// server that cannot be trusted) are logged at `warning`, failures that may pass (no network, a broken connection, a
/// timeout) at `notice`. A remembered failure, which was logged when it happened, is logged at `debug`. Work that several loads
/// share is logged once, for the first of them.
///
/// The metadata have the numbers of the message: `bytes`, `seconds` and others by the names of `Kind.metadata`.
struct PipelineLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    var takesDetails: Bool { logger.logLevel <= .debug }

    func take(_ kind: PipelineEvent.Kind, load: Int, source: @autoclosure () -> String) {
        let level = Self.level(of: kind)
        guard logger.logLevel <= level else { return }
        var metadata = kind.metadata
        metadata["load"] = .stringConvertible(load)
        metadata["source"] = .string(source())
        logger.log(level: level, "\(kind)", metadata: metadata, source: "Halcyon")
    }

    private static func level(of kind: PipelineEvent.Kind) -> Logger.Level {
        guard case .ended(.failure(let error)) = kind else { return .debug }
        return level(of: error)
    }

    private static func level(of error: ImagePipelineError) -> Logger.Level {
        switch error {
        case .remembered, .notInCache: .debug
        case .download(_, let error):
            switch error.reason {
            case .offline, .connection, .timeout, .incompleteBody: .notice
            case .httpStatus(let status): status >= 500 || status == 408 || status == 429 ? .notice : .warning
            default: .warning
            }
        case .allSourcesFailed(_, let errors): errors.map { level(of: $0) }.max() ?? .warning
        case .invalidRequest, .badSource, .decoding, .processing, .encoding, .intercepted: .warning
        }
    }
}

extension PipelineEvent.Kind {
    /// The details for a structured log: durations in `seconds`, lengths in `bytes`.
    fileprivate var metadata: Logger.Metadata {
        switch self {
        case .started, .transferStarted, .alternativeTried, .ended(.cancelled): [:]
        case .cacheHit(let level, let rule): Self.facts(("level", level.rawValue), ("rule", rule))
        case .cacheMissed(let miss): Self.facts(("level", miss.level.rawValue), ("reason", miss.reason.rawValue))
        case .transferEnded(let summary):
            Self.facts(
                ("status", summary.status), ("bytes", summary.bytes), ("seconds", summary.metrics?.total.inSeconds),
                ("queueSeconds", summary.queue.inSeconds))
        case .transferFailed(let error): Self.facts(("code", error.code))
        case .retried(let error, let attempt): Self.facts(("code", error.code), ("attempt", attempt))
        case .decoded(let size, let time): Self.facts(("pixels", size), ("seconds", time.inSeconds))
        case .processed(let time): Self.facts(("seconds", time.inSeconds))
        case .encoded(let bytes, let time): Self.facts(("bytes", bytes), ("seconds", time.inSeconds))
        case .stored(let level): Self.facts(("level", level.rawValue))
        case .notStored(let reason): Self.facts(("reason", reason))
        case .ended(.success(let origin, let metrics)):
            Self.facts(
                ("origin", origin.rawValue), ("seconds", metrics.total.inSeconds), ("bytes", metrics.bytes))
        case .ended(.failure(let error)): Self.facts(("stage", error.stage.rawValue), ("code", error.code))
        }
    }

    /// Returns metadata without those that are nil.
    private static func facts(_ facts: (String, (any Sendable)?)...) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for case (let name, let value?) in facts { metadata[name] = .string("\(value)") }
        return metadata
    }
}
