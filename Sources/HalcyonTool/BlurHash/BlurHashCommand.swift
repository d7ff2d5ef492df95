import ArgumentParser
import Foundation
import Halcyon

/// `halcyon blurhash`.
struct BlurHashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blurhash",
        abstract: "Print the BlurHash of a picture, or draw one.",
        discussion: "halcyon blurhash photo.jpg; halcyon blurhash --decode 'LEHV6nWB2yk8pyo0adR*.7kCMdnj' -o blur.png")

    @Argument(help: ArgumentHelp("A URL, data: URL or file.", valueName: "source"))
    var source: String?

    @Option(help: ArgumentHelp("The waves across and down, 1 to 9 each. (default: 4x3)", valueName: "XxY"))
    var components: ComponentsArgument?

    @Option(help: ArgumentHelp("Draw this text instead of reading a source.", valueName: "hash"))
    var decode: String?

    @Option(name: .shortAndLong, help: "The picture's file, with --decode.")
    var output: String?

    @Option(
        help: ArgumentHelp("The size of the drawn picture, at most 4096 a side. (default: 32x32)", valueName: "WxH"))
    var size: PixelSizeArgument?

    func validate() throws {
        if decode != nil {
            guard source == nil, components == nil else {
                throw ValidationError("--decode takes no source and no --components.")
            }
            guard output?.isEmpty == false else { throw ValidationError("--decode needs -o.") }
        } else {
            guard source != nil else { throw ValidationError("There is no source.") }
            guard output == nil, size == nil else { throw ValidationError("-o and --size go with --decode.") }
        }
    }

    func run() async throws {
        try await LoadedPicture.reporting {
            if let decode, let output {
                AtomicFile.removeTemporaryFilesAtSignals()
                let image = try BlurHash(decode).image(size?.size ?? PixelSize(32, 32))
                try LoadedPicture.save(image, to: output)
            } else if let source {
                // The text of a picture of this size differs from that of the whole one by a step of the finest waves at most.
                let image = try await LoadedPicture.load(source, target: TargetSize(PixelSize(512, 512)))
                let waves = components ?? ComponentsArgument(across: 4, down: 3)
                Output.line(
                    try BlurHash(encoding: image, componentsX: waves.across, componentsY: waves.down).text)
            }
        }
    }
}

/// The numbers of a BlurHash's waves: `4x3`.
struct ComponentsArgument: ExpressibleByArgument {
    let across: Int
    let down: Int

    init(across: Int, down: Int) {
        self.across = across
        self.down = down
    }

    init?(argument: String) {
        guard let size = SizeArgument.size(argument), size.width <= 9, size.height <= 9 else { return nil }
        self.init(across: size.width, down: size.height)
    }
}

/// A size in pixels: `32x32`.
struct PixelSizeArgument: ExpressibleByArgument {
    let size: PixelSize

    init?(argument: String) {
        guard let size = SizeArgument.size(argument) else { return nil }
        self.size = size
    }
}
