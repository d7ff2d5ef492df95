import ArgumentParser
import Foundation
import Halcyon

/// `halcyon colors`.
struct ColorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "colors",
        abstract: "Print the dominant colours of a picture with their shares.",
        discussion: """
            By k-means in OKLab, on at most 256x256 pixels. Transparent pixels do not count. There are fewer colours than \
            --count if the picture has no more that can be told apart.
            """)

    @Argument(help: "A URL, data: URL or file.")
    var source: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The most colours, 1 to 64.", valueName: "number"))
    var count = 5

    @Flag(help: "Prints one JSON object.")
    var json = false

    func validate() throws {
        guard (1...64).contains(count) else { throw ValidationError("--count is 1 to 64.") }
    }

    func run() async throws {
        try await LoadedPicture.reporting {
            let image = try await LoadedPicture.load(source, target: TargetSize(PixelSize(256, 256)))
            let palette = Palette(image, count: count)
            if json {
                Output.line(Output.json(Report(source: SourceList.withoutUser(source), colors: palette.entries)))
            } else {
                for entry in palette.entries {
                    Output.line("\(entry.color)  \(String(format: "%6.2f", entry.percent))%")
                }
            }
        }
    }

    private struct Report: Encodable {
        let source: String
        let colors: [Palette.Entry]
    }
}
