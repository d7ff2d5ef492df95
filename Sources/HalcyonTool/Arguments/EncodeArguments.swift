import ArgumentParser
import Halcyon

/// The options of a command about how it encodes.
struct EncodeArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The quality of a lossy output on a scale from 0 to 100, in whole numbers. (default: 85)",
            valueName: "0...100"))
    var quality: Int?

    @Option(
        help: ArgumentHelp(
            """
            The likeness that a lossy output is to have, in place of a quality: 80 is a good copy, 90 one that few tell from its source. \
            Each picture is encoded up to four times.
            """, valueName: "0...100"))
    var score: Double?

    @Flag(help: "Keeps every pixel as it is, in the formats that can: WebP, AVIF, JPEG XL.")
    var lossless = false

    @Option(
        help: ArgumentHelp(
            "The time to spend on a small file, from 0 (fast) to 100 (small). (default: the format's)",
            valueName: "0...100"))
    var effort: Int?

    @Flag(help: "Writes a JPEG without the gain map that its source has for bright displays.")
    var noGainMap = false

    func validate() throws {
        for (name, value) in [("--quality", quality), ("--effort", effort)] {
            if let value, !(0...100).contains(value) {
                throw ValidationError("\(name) is a whole number from 0 to 100.")
            }
        }
        if let score, !(0...100).contains(score) { throw ValidationError("--score is a number from 0 to 100.") }
        if score != nil, quality != nil { throw ValidationError("--score and --quality exclude each other.") }
        if lossless, score != nil { throw ValidationError("--lossless and --score exclude each other.") }
        if lossless, quality != nil { throw ValidationError("--lossless and --quality exclude each other.") }
    }

    /// The options of the encoder; nil if the command line says nothing about them.
    var options: EncodeOptions? {
        guard quality != nil || score != nil || lossless || effort != nil || noGainMap else { return nil }
        var options = EncodeOptions(
            isLossless: lossless, effort: effort.map { Double($0) / 100 }, keepsGainMap: !noGainMap)
        // The command line has the scale of cjpeg and cwebp.
        if let quality { options.quality = Double(quality) / 100 }
        options.qualityTarget = score.map { QualityTarget(score: $0) }
        return options
    }
}
