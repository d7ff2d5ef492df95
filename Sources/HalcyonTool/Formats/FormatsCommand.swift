import ArgumentParser
import Halcyon

/// `halcyon formats`.
struct FormatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats", abstract: "Say what this build does with each image format.")

    @Flag(help: "A Markdown table, as docs/Formats.md has it.")
    var markdown = false

    func run() {
        let table = FormatsTable(CoderRegistry.shared.capabilities)
        Output.line(markdown ? table.markdown : table.text)
    }
}
