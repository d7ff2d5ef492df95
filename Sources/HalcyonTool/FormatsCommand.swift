import ArgumentParser
import Halcyon
import HalcyonCodecs

/// `halcyon formats`.
struct FormatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "formats", abstract: "List what this build supports for each image format.")

    @Flag(help: "Prints the Markdown table of docs/Formats.md.")
    var markdown = false

    func run() {
        let table = FormatsTable(CoderRegistry.shared.capabilities)
        Output.line(markdown ? table.markdown : table.text)
    }
}

/// The capabilities of each format as rows of text.
struct FormatsTable {
    static let head = [
        "format", "still", "animated", "as it arrives", "scaled decode", "encode", "encode animated",
        "more than 8 bits",
        "encode more than 8 bits",
        "gain map",
    ]

    let rows: [[String]]

    init(_ capabilities: [FormatCapabilities]) {
        rows = capabilities.map { format in
            let facts = [
                format.decodes, format.decodesAnimations, format.decodesProgressively, format.scalesWhileDecoding,
                format.encodes, format.encodesAnimations, format.decodesDeep, format.encodesDeep,
                format.decodesGainMaps,
            ]
            return [format.format.name] + facts.map { $0 ? "yes" : "–" }
        }
    }

    /// The table with aligned columns, for a terminal.
    var text: String {
        let lines = [Self.head] + rows
        let widths = Self.head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    var markdown: String {
        let rule = Self.head.map { _ in "---" }
        return ([Self.head, rule] + rows).map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }
}
