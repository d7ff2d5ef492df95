import ArgumentParser
import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonSystem

/// `halcyon convert`.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert pictures in files and folders.",
        discussion: """
            A SOURCE is a file, a folder or a quoted pattern: * and ? within a name, [a-z], ** for any number of folders. In \
            folders and by patterns, files with the extension of a known format are found; hidden ones are left out, and links to \
            folders are not followed. Below -o they keep their folders. An output that is newer than its source is left as it is. \
            A picture that nothing changes is copied. Each output appears when it is whole.
            """)

    @Argument(help: ArgumentHelp("Files, folders and patterns.", valueName: "source"))
    var sources: [String]

    @Flag(name: .shortAndLong, help: "Takes the folders inside of folders, too.")
    var recursive = false

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The output folder. (default: beside the source)", valueName: "folder"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The format of the outputs: jpeg, png, webp or another of halcyon formats. (default: the name's)",
            valueName: "format"))
    var to: String?

    @OptionGroup
    var encode: EncodeArguments

    @Option(
        help: ArgumentHelp(
            "The bits of a channel: up to 16 of sources that have more than 8, in PNG, AVIF and JPEG XL. (default: 8)",
            valueName: "8...16"))
    var depth: Int?

    @Option(
        help: ArgumentHelp(
            """
            The colours of outputs with a --depth above 8: \(ColorSpaceArgument.names). Only the last three have light above \
            white, linear-srgb in JPEG XL alone. (default: those of PQ or HLG for a source that has such light, otherwise srgb)
            """, valueName: "space"))
    var colorSpace: ColorSpaceArgument?

    @Flag(
        help: """
            Rewrites files without loss: a JPEG as JPEG XL, which takes a fifth less, and such a file as the JPEG that it was, byte for \
            byte.
            """)
    var transcode = false

    @Option(help: ArgumentHelp("Scale down to this many pixels a side, before --process.", valueName: "pixels"))
    var maxSide: Int?

    @Option(
        name: [.customShort("p"), .customLong("process")],
        help: ArgumentHelp(
            "Process, in order, as halcyon load does. 'halcyon processors' lists them.", valueName: "name[=value]"),
        transform: ProcessorArgument.init)
    var processors: [ProcessorArgument] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The number of pictures at a time. (default: the number of processors)", valueName: "number"))
    var jobs: Int?

    @Flag(help: "Encode the outputs anew, even if nothing changes the picture.")
    var reencode = false

    @Flag(help: "Makes outputs again that are newer than their sources.")
    var force = false

    @Flag(help: "Allows that an output replaces a source, also its own.")
    var inPlace = false

    @Flag(name: [.customShort("n"), .long], help: "Lists the outputs and writes nothing.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "Prints errors only.")
    var quiet = false

    func validate() throws {
        if let maxSide, !(1...Bitmap.maximumSide).contains(maxSide) {
            throw ValidationError("--max-side is 1 to \(Bitmap.maximumSide).")
        }
        if let depth, !(8...16).contains(depth) { throw ValidationError("--depth is 8 to 16.") }
        if depth ?? 8 > 8, encode.score != nil { throw ValidationError("--score needs a --depth of 8.") }
        if colorSpace != nil {
            guard let depth, depth > 8 else { throw ValidationError("--color-space needs a --depth above 8.") }
            if let format = try format, !CoderRegistry.shared.capabilities(of: format).encodesDeep {
                throw ValidationError("--color-space is not for \(format), which has 8 bits in sRGB.")
            }
        }
        if let jobs, !(1...1024).contains(jobs) { throw ValidationError("--jobs is 1 to 1024.") }
        guard !sources.contains("") else { throw ValidationError("A source is empty.") }
        if let output {
            guard !output.isEmpty else { throw ValidationError("-o is empty.") }
            guard !inPlace else { throw ValidationError("-o and --in-place exclude each other.") }
            if let kind = FileFacts(BytePath(argument: output))?.kind, kind != .folder {
                throw ValidationError("-o \(output) is not a folder.")
            }
        } else if to == nil, !inPlace {
            throw ValidationError("Each picture would replace itself: give -o, --to or --in-place.")
        }
        guard try format != nil || !transcode else { throw ValidationError("--transcode needs --to.") }
        guard
            !transcode
                || (processors.isEmpty && maxSide == nil && depth == nil && encode.quality == nil
                    && encode.score == nil && !encode.lossless)
        else {
            throw ValidationError(
                "--transcode changes no pixel: it takes no --process, --max-side, --depth, --quality, --score or --lossless."
            )
        }
    }

    private var format: ImageFormat? {
        get throws { try to.map { try FormatArgument.encodable($0, option: "--to") } }
    }

    func run() async throws {
        let (plan, failures) = try await makePlan()
        for failure in failures { Output.error("\(failure)") }
        for conflict in plan.conflicts { Output.error(conflict) }
        guard plan.conflicts.isEmpty else {
            Output.error("nothing was written")
            throw ExitCode(1)
        }
        var summary = ConvertSummary(failed: failures.count)
        if dryRun {
            for step in plan.steps {
                Output.line(ConvertReport(step).line ?? "\(step.source.path)  -> \(step.output)")
            }
        } else {
            try await convert(plan.steps, &summary)
            if !quiet { Output.line(summary.line) }
        }
        if summary.failed > 0 { throw ExitCode(1) }
    }

    private func makePlan() async throws -> (ConvertPlan, [FailureReport]) {
        let folder = output.map { BytePath(argument: $0).withoutSlashes }
        let options = ConvertPlan.Options(
            folder: folder, format: try format, replacesSources: inPlace, isForced: force)
        let (arguments, isRecursive) = (BytePath.arguments(sources), recursive)
        // There the stack is deep enough for any tree of folders.
        return try await ThreadPools.io.run { _ in
            let sources = ConvertSources(arguments, isRecursive: isRecursive, output: folder, coders: .shared)
            return (ConvertPlan(sources.found, options), sources.failures)
        }
    }

    private func convert(_ steps: [ConvertPlan.Step], _ summary: inout ConvertSummary) async throws {
        let made: [any ImageProcessor]
        do {
            made = try await ThreadPools.cpu.run { [processors] _ in try processors.map { try $0.processor() } }
        } catch {
            Output.error("\(FailureReport(error))")
            throw ExitCode(1)
        }
        AtomicFile.removeTemporaryFilesAtSignals()
        let pipeline = ImagePipeline.ofTool()
        var options = encode.options
        if let depth { options = (options ?? EncodeOptions()).with(bitsPerChannel: depth) }
        let writer = OutputWriter(
            destination: .none, format: try format, options: options, reencodes: reencode,
            coders: pipeline.configuration.coders)
        let lossless =
            transcode ? try format.map { ImageEncoding.transcoded(to: $0, effort: encode.options?.effort) } : nil
        let runner = ConvertRunner(
            pipeline: pipeline, steps: steps, processors: made, maximumSide: maxSide,
            isDeep: depth ?? 8 > 8, colorSpace: colorSpace?.space,
            transcode: lossless, writer: writer,
            jobs: jobs ?? SystemGrant.current.cores)
        var bar = ProgressBar(total: steps.count, isQuiet: quiet)
        await runner.run { report in
            summary.add(report)
            if let error = report.error {
                bar.erase()
                Output.error("\(report.source): \(error)")
            } else if !quiet, let line = report.line {
                if bar.sharesTerminal { bar.erase() }
                Output.line(line)
            }
            bar.advance()
        }
        bar.erase()
        await pipeline.shutdown()
    }
}

extension EncodeOptions {
    fileprivate func with(bitsPerChannel bits: Int) -> EncodeOptions {
        var options = self
        options.bitsPerChannel = bits
        return options
    }
}
