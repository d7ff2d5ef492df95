import ArgumentParser
import Foundation
import Halcyon

/// `halcyon probe`.
struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Read the headers of images, without decoding them.")

    @Argument(help: ArgumentHelp("URLs, data: URLs, files, or - for a list on standard input.", valueName: "source"))
    var sources: [String]

    @Flag(help: "Prints one JSON object a line.")
    var json = false

    func run() async throws {
        let entries = try SourceList.read(sources)
        guard !entries.isEmpty else { throw ValidationError("There is no source.") }
        let pipeline = ImagePipeline.ofTool()
        var allSucceeded = true
        for entry in entries {
            var report = ProbeReport(source: entry.text)
            do {
                let data = try await pipeline.data(for: ImageRequest(entry.source))
                report.info = try pipeline.configuration.coders.probe(data, isolation: .ofTool)
            } catch {
                let failure = FailureReport(error)
                report.error = failure
                allSucceeded = false
                Output.error("\(entry.text): \(failure.message) (\(failure.code))")
            }
            if json { Output.line(Output.json(report)) } else if let line = report.line { Output.line(line) }
        }
        if !allSucceeded { throw ExitCode(1) }
    }
}

/// The output of `halcyon probe` for one source.
struct ProbeReport: Encodable, Sendable {
    let source: String
    var info: ImageInfo?
    var error: FailureReport?

    private enum Keys: String, CodingKey {
        case source, ok, format, width, height, frames, loops, alpha, bitsPerChannel, orientation, colorSpace, gainMap,
            error
    }

    /// Encodes every key each time, with `null` for a missing value.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(source, forKey: .source)
        try container.encode(error == nil, forKey: .ok)
        try container.encode(info?.format.name, forKey: .format)
        try container.encode(info?.size.width, forKey: .width)
        try container.encode(info?.size.height, forKey: .height)
        try container.encode(info?.frameCount, forKey: .frames)
        try container.encode(info?.loopCount, forKey: .loops)
        try container.encode(info?.hasAlpha, forKey: .alpha)
        try container.encode(info?.bitsPerChannel, forKey: .bitsPerChannel)
        try container.encode(info?.orientation.rawValue, forKey: .orientation)
        try container.encode(info?.colorSpace.description, forKey: .colorSpace)
        try container.encode(info?.hasGainMap, forKey: .gainMap)
        try container.encode(error, forKey: .error)
    }

    /// The report as a line for a terminal.
    var line: String? {
        guard let info else { return nil }
        var facts = ["\(info.format)", "\(info.size)", "\(info.bitsPerChannel) bit", "\(info.colorSpace)"]
        if info.hasAlpha { facts.append("alpha") }
        if info.hasGainMap { facts.append("gain map") }
        if info.isAnimated { facts.append("\(info.frameCount) frames") }
        if let loops = info.loopCount { facts.append(loops == 0 ? "loops for ever" : "plays \(loops)x") }
        if info.orientation != .up { facts.append("orientation \(info.orientation.rawValue)") }
        return "\(source)  " + facts.joined(separator: ", ")
    }
}
