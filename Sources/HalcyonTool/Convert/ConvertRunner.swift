import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonSystem

/// Converts pictures, several at a time, and reports them in their order.
struct ConvertRunner: Sendable {
    let pipeline: ImagePipeline
    let steps: [ConvertPlan.Step]
    let processors: [any ImageProcessor]
    let maximumSide: Int?
    /// Whether the outputs have more than 8 bits a channel.
    let isDeep: Bool
    /// The colour space of those; nil for the light of PQ and HLG sources, and sRGB for others.
    let colorSpace: NamedColorSpace?
    /// The rewriting without loss, if pictures are not decoded.
    let transcode: ImageEncoding?
    /// Encodes what was loaded.
    let writer: OutputWriter
    let jobs: Int

    func run(tell: (ConvertReport) -> Void) async {
        await OrderedRun(count: steps.count, concurrency: jobs).results({ await convert($0) }, tell: tell)
    }

    private func convert(_ index: Int) async -> ConvertReport {
        let step = steps[index]
        var report = ConvertReport(step)
        guard step.skipped == nil else { return report }
        do {
            let found = try await found(try await request(index), pathExtension: step.output.pathExtension)
            // Those who could read the source can read what replaces it.
            let mode = step.output == step.source.path ? step.source.facts.mode : nil
            try await ThreadPools.io.run { _ in try AtomicFile.write(found.data, to: step.output, mode: mode) }
            (report.written, report.search) = (found.data.count, found.search)
        } catch {
            report.error = FailureReport(error)
        }
        return report
    }

    private func found(_ request: ImageRequest, pathExtension: String) async throws -> FoundEncoding {
        if let transcode {
            return FoundEncoding(data: try await pipeline.encodedImage(for: request, as: transcode).data)
        }
        let response = try await pipeline.response(for: request)
        return try await writer.found(response, isUntouched: processors.isEmpty, pathExtension: pathExtension)
    }

    /// Nothing is kept in the caches: no picture is wanted twice.
    private func request(_ index: Int) async throws -> ImageRequest {
        let path = steps[index].source.path
        // Not by a URL, whose path is text and loses dots, and which would put a home in the place of a tilde.
        let data = try await ThreadPools.io.run { _ in try RawFile.read(path, maximumBytes: 200_000_000) }
        var request = ImageRequest(.data(data, key: "convert:\(index)"), processors: processors)
        request.cachePolicy = CachePolicy(reads: [], writes: [])
        request.decode.target = maximumSide.map { TargetSize(PixelSize($0, $0)) }
        request.decode.decodesGainMap = writer.keepsGainMap(
            processors, pathExtension: steps[index].output.pathExtension)
        if isDeep {
            request.decode.depth = deepFormat(steps[index].output.pathExtension)
            request.decode.keepsDynamicRange = colorSpace == nil
        }
        return request
    }

    /// Light above white is beyond the integers of linear light, and JPEG XL alone stores halfs.
    private func deepFormat(_ pathExtension: String) -> DeepBitmap.Format {
        let space = colorSpace ?? .sRGB
        let keepsHalfs = writer.format.map { $0 == .jpegXL } ?? ImageFormat.jpegXL.isNamed(pathExtension)
        return DeepBitmap.Format(space == .linearSRGB && keepsHalfs ? .float16 : .uint16, colorSpace: space)
    }
}

/// The result of `halcyon convert` for one picture.
struct ConvertReport: Sendable {
    let source: BytePath
    let output: BytePath
    let skipped: String?
    /// The number of bytes of the source.
    let read: Int
    /// The number of bytes of the output; nil if it was not written.
    var written: Int?
    /// The quality that was found by a score.
    var search: FoundEncoding.Search?
    var error: FailureReport?

    init(_ step: ConvertPlan.Step) {
        source = step.source.path
        output = step.output
        skipped = step.skipped
        read = step.source.facts.size
    }

    /// The line for standard output; nil for a failure.
    var line: String? {
        if let skipped { return "\(source)  skipped: \(skipped)" }
        guard let written else { return nil }
        let line = "\(source)  -> \(output)  \(read) -> \(written) bytes"
        guard let search else { return line }
        let encodes = search.comparisons == 1 ? "1 encode" : "\(search.comparisons) encodes"
        return line + String(format: ", quality %.0f, score %.1f, ", search.quality * 100, search.score) + encodes
    }
}

/// The counts at the end of `halcyon convert`.
struct ConvertSummary: Sendable {
    private var converted = 0
    private var skipped = 0
    private(set) var failed = 0
    private var read = 0
    private var written = 0

    /// - Parameter failed: The number of arguments and folders that could not be read.
    init(failed: Int) { self.failed = failed }

    mutating func add(_ report: ConvertReport) {
        if report.error != nil {
            failed += 1
        } else if let bytes = report.written {
            converted += 1
            read += report.read
            written += bytes
        } else {
            skipped += 1
        }
    }

    var line: String {
        "\(converted) converted, \(skipped) skipped, \(failed) failed, \(read) -> \(written) bytes"
    }
}
