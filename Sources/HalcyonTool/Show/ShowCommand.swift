import ArgumentParser
import Foundation
import Halcyon

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

    @OptionGroup var sources: SourceOptions
    @OptionGroup var options: ShowOptions

    func run() async throws {
        let entries = try sources.readEntries()
        let processors = try await sources.makeProcessors()
        let pipeline = sources.makePipeline()
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
