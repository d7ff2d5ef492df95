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

    @OptionGroup
    var encode: EncodeArguments

    @Flag(help: "Encode the output anew, even if nothing changes the image.")
    var reencode = false

    func validate() throws {
        _ = try outputFormat
    }

    var outputFormat: ImageFormat? {
        get throws {
            try format.map { try FormatArgument.encodable($0, option: "--format") }
        }
    }
}
