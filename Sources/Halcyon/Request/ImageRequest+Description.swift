import HalcyonCodecs
import HalcyonImage

extension ImageRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// One line for logs: the source without user, query and fragment, and the options that matter most, of which header fields are
    /// named only.
    ///
    ///     ImageRequest(http://images.test/a.png, fit 320x240, processors: 2, priority: high, headers: Authorization)
    public var description: String {
        var parts = [source.description]
        if let target = decode.target { parts.append("\(target.mode.rawValue) \(Self.text(of: target.size))") }
        if !processors.isEmpty { parts.append("processors: \(processors.count)") }
        if priority != .normal { parts.append("priority: \(priority)") }
        if !alternatives.isEmpty { parts.append("alternatives: \(alternatives.count)") }
        if !network.headers.isEmpty {
            parts.append("headers: \(network.headers.fields.map(\.name).joined(separator: " "))")
        }
        if network.credential != nil { parts.append("with a credential") }
        return "ImageRequest(\(parts.joined(separator: ", ")))"
    }

    public var debugDescription: String { description }

    /// A free side is a question mark.
    private static func text(of size: PixelSize) -> String {
        let sides = [size.width, size.height].map { $0 == .max ? "?" : "\($0)" }
        return sides.joined(separator: "x")
    }
}

extension ImageTask: CustomStringConvertible, CustomDebugStringConvertible {
    /// One line for logs: the request, and how far its load is.
    ///
    ///     ImageTask(ImageRequest(http://images.test/a.png), 16384 of 40960 bytes)
    public var description: String { "ImageTask(\(request), \(stateText))" }

    public var debugDescription: String { description }

    private var stateText: String {
        switch status {
        case .running(nil): return "waiting"
        case .running(let progress?):
            let total = progress.expected.map { " of \($0)" } ?? ""
            return "\(progress.received)\(total) bytes"
        case .finished: return "finished"
        case .failed:
            if case .failure(let error as ImagePipelineError) = result { return "failed: \(error.code)" }
            return "failed"
        case .cancelled: return "cancelled"
        }
    }
}
