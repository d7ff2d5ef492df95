import ArgumentParser
import Halcyon

/// The command-line tool: `halcyon`.
@main
struct HalcyonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "halcyon",
        abstract: "Load, inspect and convert web images.",
        discussion: """
            A SOURCE is an http or https URL, a data: URL or a file. Exit status: 0 when all succeeded, 1 when any \
            failed, 64 for wrong usage. Errors go to standard error, a line each.
            """,
        version: ToolVersion.text,
        subcommands: [
            LoadCommand.self, ConvertCommand.self, CompareCommand.self, ColorsCommand.self, BlurHashCommand.self,
            ThumbnailCommand.self, ProbeCommand.self, ProcessorsCommand.self, FormatsCommand.self, CacheCommand.self,
            DemoCommand.self,
            ShowCommand.self,
        ]
    )

    static func main() async {
        // Before anything else: a worker has nothing to give up that it never had.
        DecodeWorker.runIfAsked()
        Output.outliveReaders()
        await main(nil)
    }
}

/// The output of `halcyon --version`.
enum ToolVersion {
    static let text = HalcyonVersion.current
}
