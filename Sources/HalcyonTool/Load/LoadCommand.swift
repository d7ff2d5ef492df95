import ArgumentParser
import Foundation
import Halcyon
import HalcyonCache
import HalcyonSystem

/// `halcyon load`.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load images and write them to -o.",
        discussion: "A SOURCE that is given twice makes two simultaneous requests."
    )

    @Argument(help: ArgumentHelp("URLs, data: URLs, files, or - for a list on standard input.", valueName: "source"))
    var sources: [String]

    @OptionGroup var options: LoadOptions
    @OptionGroup var request: RequestOptions
    @OptionGroup var cache: CacheFolder

    @Option(help: "The number of simultaneous loads.")
    var concurrency = 16

    @Option(help: "The number of passes over all sources, one after the other.")
    var passes = 1

    @Flag(help: "Prints errors only.")
    var quiet = false

    @Flag(help: "Prints one JSON object a line, for each source and pass.")
    var json = false

    func validate() throws {
        guard (1...1024).contains(concurrency) else { throw ValidationError("--concurrency is 1 to 1024.") }
        guard (1...1_000_000).contains(passes) else { throw ValidationError("--passes is 1 to 1000000.") }
    }

    func run() async throws {
        let entries = try SourceList.read(sources)
        guard !entries.isEmpty else { throw ValidationError("There is no source.") }
        let destination = try OutputDestination(options.output, sourceCount: entries.count)
        let processors: [any ImageProcessor]
        do {
            processors = try await ThreadPools.cpu.run { [request] _ in try request.makeProcessors() }
        } catch {
            Output.error("\(FailureReport(error))")
            throw ExitCode(1)
        }
        let pipeline = ImagePipeline(
            configuration: ImagePipeline.Configuration(cache: ImageCache(disk: cache.diskCache)))
        let writer = OutputWriter(
            destination: destination, format: try options.outputFormat, quality: options.quality,
            reencodes: options.reencode, coders: pipeline.configuration.coders)
        let runner = LoadRunner(
            pipeline: pipeline, entries: entries, options: request, processors: processors, writer: writer,
            concurrency: concurrency)
        var allSucceeded = true
        for pass in 1...passes {
            await runner.run(pass: pass) { report in
                if let error = report.error {
                    allSucceeded = false
                    Output.error("\(report.source): \(error.message) (\(error.code))")
                }
                say(report, to: destination)
            }
        }
        // A slow disk gets time to store the pending entries.
        await pipeline.shutdown(within: .seconds(60))
        if !allSucceeded { throw ExitCode(1) }
    }

    private func say(_ report: LoadReport, to destination: OutputDestination) {
        // Standard output is reserved for the image if it is written there.
        let handle = destination.isStandardOutput ? FileHandle.standardError : FileHandle.standardOutput
        if json {
            Output.write(Output.json(report) + "\n", to: handle)
        } else if !quiet, report.isOK {
            Output.write(report.line + "\n", to: handle)
        }
    }
}
