import ArgumentParser
import Halcyon

/// The options of `halcyon show` about the screen.
struct ShowOptions: ParsableArguments {
    @Option(
        name: .customLong("protocol"),
        help: "How pictures are drawn: auto, kitty, iterm2, sixel or blocks. auto asks the terminal.")
    var way: ProtocolArgument = .auto

    @Option(help: "The width in columns. (default: the terminal's)")
    var width: Int?

    @Option(help: "The maximum height of a picture in rows. (default: the terminal's)")
    var height: Int?

    @Option(help: "The number of pictures beside each other. (default: as many as have 24 columns)")
    var columns: Int?

    @Flag(help: "Enlarge small pictures to the width and height.")
    var fit = false

    @Flag(inversion: .prefixedNo, help: "Print name, size and format below each of several pictures.")
    var captions = true

    @Option(
        help: ArgumentHelp(
            "The colour below transparent pixels, or chequer. (default: the terminal's background)",
            valueName: "#rrggbb|chequer"))
    var background: BackgroundArgument?

    @Flag(help: "Mix the colours of sixel pixel by pixel. (default: where the terminal has fewer than 256)")
    var dither = false

    @Flag(help: "Show the first frame of an animation.")
    var still = false

    @Option(help: "How often animations play, 0 for ever. (default: as the file says; 1st frame unless in a terminal)")
    var loops: Int?

    func validate() throws {
        for (name, value) in [("width", width), ("height", height), ("columns", columns)] {
            if let value, !(1...1000).contains(value) { throw ValidationError("--\(name) is 1 to 1000.") }
        }
        if let loops, !(0...1_000_000).contains(loops) { throw ValidationError("--loops is 0 to 1000000.") }
        if still, loops != nil { throw ValidationError("--still and --loops exclude each other.") }
    }
}

/// The value of `--background`: a colour such as `#fc6`, or `chequer`.
struct BackgroundArgument: ExpressibleByArgument {
    private let color: Color?

    init?(argument: String) {
        color = Color(hex: argument)
        // A background that is clear itself would need another one.
        guard color.map({ $0.alpha == 1 }) ?? (argument == "chequer") else { return nil }
    }

    /// Returns the surface in the pixels of a protocol: those of blocks are much larger.
    func surface(_ way: DrawingProtocol) -> Backdrop.Surface {
        color.map { .color($0) } ?? .chequer(side: way == .blocks ? 2 : 8)
    }
}
