import ArgumentParser
import Foundation
import Halcyon
import HalcyonSystem

/// `halcyon show`.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show images in the terminal.",
        discussion: """
            By the graphics of Kitty, iTerm2 or Sixel, otherwise by half blocks of text. Animations play until their last \
            loop ends, or Ctrl-C; in a grid, those that are still on the screen. In tmux, pictures need its option \
            allow-passthrough.
            """
    )

    @Argument(help: ArgumentHelp("URLs, data: URLs, files, or - for a list on standard input.", valueName: "source"))
    var sources: [String]

    @OptionGroup var options: ShowOptions
    @OptionGroup var request: RequestOptions
    @OptionGroup var cache: CacheFolder

    @Option(help: "The number of simultaneous loads.")
    var concurrency = 8

    func validate() throws {
        guard (1...1024).contains(concurrency) else { throw ValidationError("--concurrency is 1 to 1024.") }
    }

    func run() async throws {
        let entries = try SourceList.read(sources)
        guard !entries.isEmpty else { throw ValidationError("There is no source.") }
        let processors: [any ImageProcessor]
        do {
            processors = try await ThreadPools.cpu.run { [request] _ in try request.makeProcessors() }
        } catch {
            Output.error("\(FailureReport(error))")
            throw ExitCode(1)
        }
        let pipeline = ImagePipeline(
            configuration: ImagePipeline.Configuration(cache: ImageCache(disk: cache.diskCache)))
        let screen = ShowScreen(options.way.choice)
        defer { screen.end() }
        let run = ShowRun(command: self, pipeline: pipeline, processors: processors, screen: screen)
        var allSucceeded = false
        do {
            allSucceeded = try await run.run(entries)
        } catch is CancellationError {
            // A signal has ended the output, and is about to end the program.
            try? await Task.sleep(for: .seconds(2))
        } catch {
            Output.error("\(FailureReport(error))")
        }
        // A slow disk gets time to store the pending entries.
        await pipeline.shutdown(within: .seconds(60))
        if !allSucceeded { throw ExitCode(1) }
    }
}
