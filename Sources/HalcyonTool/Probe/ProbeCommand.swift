import ArgumentParser
import Foundation
import Halcyon

/// `halcyon probe`.
struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Say what the headers of images say, without decoding them.")

    @Argument(help: ArgumentHelp("URLs, data: URLs, files, or - for a list on standard input.", valueName: "source"))
    var sources: [String]

    @Flag(help: "One JSON object a line.")
    var json = false

    func run() async throws {
        let entries = try SourceList.read(sources)
        guard !entries.isEmpty else { throw ValidationError("There is no source.") }
        let pipeline = ImagePipeline(configuration: ImagePipeline.Configuration(cache: ImageCache(disk: nil)))
        var allSucceeded = true
        for entry in entries {
            var report = ProbeReport(source: entry.text)
            do {
                let data = try await pipeline.data(for: ImageRequest(entry.source))
                report.info = try pipeline.configuration.coders.probe(data)
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
