import ArgumentParser
import Foundation
import Halcyon

/// `halcyon load`.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load images and write them to -o.",
        discussion: "A SOURCE that is given twice makes two simultaneous requests."
    )

    @OptionGroup var sources: SourceOptions
    @OptionGroup var options: LoadOptions

    @Option(help: "The number of passes over all sources, one after the other.")
    var passes = 1

    @Flag(help: "Prints errors only.")
    var quiet = false

    @Flag(help: "Prints one JSON object a line, for each source and pass.")
    var json = false

    func validate() throws {
        guard (1...1_000_000).contains(passes) else { throw ValidationError("--passes is 1 to 1000000.") }
    }

    func run() async throws {
        let entries = try sources.readEntries()
        let destination = try OutputDestination(options.output, sourceCount: entries.count)
        let processors = try await sources.makeProcessors()
        let pipeline = sources.makePipeline()
        let writer = OutputWriter(
            destination: destination, format: try options.outputFormat, options: options.encode.options,
            reencodes: options.reencode, coders: pipeline.configuration.coders)
        let runner = LoadRunner(
            pipeline: pipeline, entries: entries, options: sources.request, processors: processors, writer: writer,
            concurrency: sources.concurrency)
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
