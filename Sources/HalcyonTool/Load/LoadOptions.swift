import ArgumentParser
import Halcyon
import HalcyonCodecs

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

    @Option(help: "The quality of a lossy output, 0 to 100. (default: 85)")
    var quality: Int?

    @Flag(help: "Encode the output anew, even if nothing changes the image.")
    var reencode = false

    func validate() throws {
        if let quality, !(0...100).contains(quality) { throw ValidationError("--quality is 0 to 100.") }
        _ = try outputFormat
    }

    var outputFormat: ImageFormat? {
        get throws {
            guard let format else { return nil }
            guard let known = ImageFormat(name: format), CoderRegistry.shared.canEncode(known) else {
                throw ValidationError("--format \(format): this build cannot encode it.")
            }
            return known
        }
    }
}
