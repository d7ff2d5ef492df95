import Foundation
import Halcyon
import HalcyonSystem

/// Loads a list of sources, several at a time, and reports them in their order.
struct LoadRunner: Sendable {
    let pipeline: ImagePipeline
    let entries: [SourceList.Entry]
    let options: RequestOptions
    let processors: [any ImageProcessor]
    let writer: OutputWriter
    let concurrency: Int

    /// Loads the list once. Calls `tell` in the list's order, as soon as all sources before are done.
    func run(pass: Int, tell: (LoadReport) -> Void) async {
        await OrderedRun(count: entries.count, concurrency: concurrency)
            .results({ await load($0, pass: pass) }, tell: tell)
    }

    private func load(_ index: Int, pass: Int) async -> LoadReport {
        let entry = entries[index]
        let started = ContinuousClock.now
        var report = LoadReport(source: entry.text, pass: pass, milliseconds: 0)
        do {
            var request = options.request(for: entry.source, processors: processors)
            switch writer.destination {
            case .none: break
            case .file(let path):
                let pathExtension = URL(filePath: path).pathExtension
                request.decode.decodesGainMap = writer.keepsGainMap(processors, pathExtension: pathExtension)
            case .standardOutput, .folder:
                request.decode.decodesGainMap = writer.keepsGainMap(processors, pathExtension: nil)
            }
            let response = try await pipeline.response(for: request)
            report.milliseconds = (ContinuousClock.now - started).milliseconds
            report.origin = response.origin
            report.format = response.image.info.format.name
            report.width = response.image.width
            report.height = response.image.height
            report.frames = response.image.info.frameCount
            report.bytes = response.metrics.bytes
            // The first pass writes the file; the others only measure.
            if pass == 1 {
                report.output = try await writer.write(
                    response, isUntouched: request.processors.isEmpty, index: index, source: entry)
            }
        } catch {
            report.milliseconds = (ContinuousClock.now - started).milliseconds
            report.error = FailureReport(error)
        }
        return report
    }
}

extension Duration {
    var milliseconds: Double { inSeconds * 1000 }
}

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
