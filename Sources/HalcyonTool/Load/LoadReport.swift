import Halcyon

/// The output of `halcyon load` for one source in one pass.
struct LoadReport: Encodable, Sendable {
    let source: String
    let pass: Int
    var origin: ImageOrigin?
    var format: String?
    var width: Int?
    var height: Int?
    var frames: Int?
    /// The number of the source's encoded bytes.
    var bytes: Int?
    var milliseconds: Double
    var output: String?
    var error: FailureReport?

    var isOK: Bool { error == nil }

    private enum Keys: String, CodingKey {
        case source, pass, ok, origin, format, width, height, frames, bytes, milliseconds, output, error
    }

    /// Encodes every key each time, with `null` for a missing value.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(source, forKey: .source)
        try container.encode(pass, forKey: .pass)
        try container.encode(isOK, forKey: .ok)
        try container.encode(origin?.rawValue, forKey: .origin)
        try container.encode(format, forKey: .format)
        try container.encode(width, forKey: .width)
        try container.encode(height, forKey: .height)
        try container.encode(frames, forKey: .frames)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(milliseconds, forKey: .milliseconds)
        try container.encode(output, forKey: .output)
        try container.encode(error, forKey: .error)
    }

    /// The report as a line for a terminal.
    var line: String {
        let time = milliseconds < 10 ? String(format: "%.2f ms", milliseconds) : String(format: "%.0f ms", milliseconds)
        guard let width, let height, let origin else { return "\(source)  failed  \(time)" }
        var line = "\(source)  \(format ?? "")  \(width)x\(height)  \(bytes ?? 0) bytes  \(origin.rawValue)  \(time)"
        if let output { line += "  -> \(output)" }
        return line
    }
}
