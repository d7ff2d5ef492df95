import ArgumentParser
import Foundation
import Halcyon

/// `halcyon processors`.
struct ProcessorsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "processors", abstract: "List the processors of load --process.")

    @Flag(help: "Prints the whole documentation, docs/Processors.md.")
    var markdown = false

    @Option(help: ArgumentHelp("Write the pages and pictures of the documentation.", visibility: .hidden))
    var documentation: String?

    func run() throws {
        if let documentation {
            try ProcessorPages.write(to: URL(filePath: documentation))
        } else {
            Output.line(markdown ? ProcessorsDocument.text : ProcessorTable.text)
        }
    }
}
