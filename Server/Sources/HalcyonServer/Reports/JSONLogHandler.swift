import Foundation
import Logging

/// A handler of logs that writes one JSON object a line: `time`, `level`, `message`, `label`, and the metadata by their names.
///
/// A line is written by one call, so that lines of several threads do not mix. Text of requests in it is escaped as JSON escapes it:
/// nothing that a client sends begins a line.
public struct JSONLogHandler: LogHandler {
    public var metadata = Logger.Metadata()
    public var metadataProvider: Logger.MetadataProvider?
    public var logLevel: Logger.Level

    private let label: String
    private let write: @Sendable (Data) -> Void

    /// Creates a handler.
    ///
    /// - Parameter write: writes one line; to the standard error by default.
    public init(
        label: String, level: Logger.Level = .info,
        write: @escaping @Sendable (Data) -> Void = { try? FileHandle.standardError.write(contentsOf: $0) }
    ) {
        (self.label, logLevel, self.write) = (label, level, write)
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var fields: [String: Any] = [:]
        let own = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }
        for (name, value) in own.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }) {
            fields[name] = Self.json(value)
        }
        if let error = event.error { fields["error"] = "\(error)" }
        fields["time"] = Date().ISO8601Format(.iso8601(timeZone: .gmt, includingFractionalSeconds: true))
        fields["level"] = event.level.rawValue
        fields["label"] = label
        fields["message"] = event.message.description
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard var line = try? JSONSerialization.data(withJSONObject: fields, options: options) else { return }
        line.append(0x0a)
        write(line)
    }

    private static func json(_ value: Logger.MetadataValue) -> Any {
        switch value {
        case .string(let text): text
        case .stringConvertible(let value):
            switch value {
            case let number as Int: number
            case let number as Double where number.isFinite: number
            case let flag as Bool: flag
            default: value.description
            }
        case .array(let values): values.map { json($0) }
        case .dictionary(let values): values.mapValues { json($0) }
        }
    }
}
