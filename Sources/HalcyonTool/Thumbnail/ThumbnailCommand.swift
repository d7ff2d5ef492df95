import ArgumentParser
import Foundation
import Glibc
import Halcyon
import HalcyonCodecs

/// `halcyon thumbnail`, for the thumbnailers of desktops: one file becomes one PNG.
///
/// A file of a stranger is decoded by it whenever a folder is opened, so its time and memory are bounded.
struct ThumbnailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail",
        abstract: "Write a small PNG of one file, within bounds of time and memory.",
        discussion: "The entry of a desktop's thumbnailer: halcyon thumbnail --size %s %u %o")

    @Argument(help: "A file, or its file: URL.")
    var source: String

    @Argument(help: "The PNG file.")
    var output: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The most pixels a side.", valueName: "pixels"))
    var size = 256

    @Option(help: "The seconds after which the program ends itself without an output.")
    var timeout = 20

    @Option(help: "The memory for the decode; a picture that needs more fails. 64M, 1G. (default: 512M)")
    var maxMemory: BytesArgument?

    func validate() throws {
        guard (1...4096).contains(size) else { throw ValidationError("--size is 1 to 4096.") }
        guard (1...3600).contains(timeout) else { throw ValidationError("--timeout is 1 to 3600.") }
        if let maxMemory, maxMemory.bytes == 0 { throw ValidationError("--max-memory is more than 0.") }
        guard !output.isEmpty else { throw ValidationError("The output is empty.") }
        _ = try file
    }

    /// The file, and never an address in the network.
    private var file: BytePath {
        get throws {
            guard case .file = SourceList.source(source) else { throw ValidationError("The source is a file.") }
            return BytePath(fileURL: source) ?? BytePath(argument: source)
        }
    }

    func run() async throws {
        // By the clock of the kernel, which also ends a codec that never returns.
        AtomicFile.removeTemporaryFilesAtSignals([SIGINT, SIGTERM, SIGHUP, SIGALRM])
        alarm(UInt32(timeout))
        try await LoadedPicture.reporting {
            let coders = CoderRegistry.standard(budget: DecodeBudget(capacity: maxMemory?.bytes ?? 512 << 20))
            let options = DecodeOptions(
                target: TargetSize(PixelSize(size, size)), firstFrameOnly: true, usesEmbeddedThumbnail: true,
                isolation: .ofTool)
            let image: Image
            do {
                let data = try RawFile.read(try file, maximumBytes: 200_000_000)
                image = try coders.decode(data, options: options)
            } catch {
                let failure = FailureReport(error)
                throw FailureReport(code: failure.code, message: "\(source): \(failure.message)")
            }
            let data = try image.data(as: .png, options: EncodeOptions(keepsColorProfile: false), coders: coders)
            // A desktop's thumbnails are read by their user alone.
            try AtomicFile.write(data, to: BytePath(argument: output), mode: 0o600)
        }
    }
}
