import ArgumentParser
import Halcyon

/// The options of `halcyon load` about its output.
struct LoadOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: "The output: a file, a folder, or - for standard output. An image that nothing changes is copied.")
    var output: String?

    @Option(
        help:
            "The format of the output: jpeg, png, webp, gif or another of halcyon formats. (default: the source's format)"
    )
    var format: String?

    @Option(
        help: ArgumentHelp(
            "The quality of a lossy output, from 0 to 100, in whole numbers. (default: 85)",
            valueName: "0...100"))
    var quality: Int?

    @Flag(help: "Encode the output anew, even if nothing changes the image.")
    var reencode = false

    func validate() throws {
        if let quality, !(0...100).contains(quality) {
            throw ValidationError("--quality is a whole number from 0 to 100.")
        }
        _ = try outputFormat
    }

    var outputFormat: ImageFormat? {
        get throws {
            try format.map { try FormatArgument.encodable($0, option: "--format") }
        }
    }
}
