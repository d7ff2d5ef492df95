import HalcyonNetwork
import Logging

/// Writes a pipeline's events to a log.
///
/// Loads are logged at `debug`. Failures that a new attempt would repeat (a status, bytes that are not an image, a
/// server that cannot be trusted) are logged at `warning`, failures that may pass (no network, a broken connection, a
/// timeout) at `notice`. A remembered failure, which was logged when it happened, is logged at `debug`. The metadata of a failure
/// have its `stage` and its `code`.
struct PipelineLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    var takesDetails: Bool { logger.logLevel <= .debug }

    func take(_ kind: PipelineEvent.Kind, load: Int, source: @autoclosure () -> String) {
        let level = Self.level(of: kind)
        guard logger.logLevel <= level else { return }
        var metadata: Logger.Metadata = ["load": .stringConvertible(load), "source": .string(source())]
        if case .ended(.failure(let error)) = kind {
            metadata["stage"] = .string(error.stage.rawValue)
            metadata["code"] = .string(error.code)
        }
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
