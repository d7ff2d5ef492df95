import ArgumentParser
import Foundation
import Halcyon
import HalcyonProcessing
import HalcyonSystem

/// `halcyon compare`.
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Measure the difference of two pictures: PSNR, SSIM and a score.",
        discussion: """
            PSNR is that of red, green and blue, and of alpha if there is any. SSIM is that of Wang, Bovik, Sheikh and Simoncelli \
            (2004) on luma, with a Gaussian window of 11x11 pixels and a deviation of 1.5. The score is that of \
            --score: 100 for equal pictures, 80 for a good copy. Of animations, the first frames are \
            compared. Exit status: 0, or 1 below --min-psnr or --min-ssim, or after an error.
            """)

    @Argument(help: ArgumentHelp("A URL, data: URL or file.", valueName: "a"))
    var first: String

    @Argument(help: ArgumentHelp("Another one.", valueName: "b"))
    var second: String

    @Option(name: .shortAndLong, help: "The file of a picture of the differences.")
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The factor of the differences in that picture, 1 to 255.", valueName: "number"))
    var amplify = 10

    @Option(help: ArgumentHelp("The least PSNR in decibels.", valueName: "dB"))
    var minPsnr: Double?

    @Option(help: ArgumentHelp("The least SSIM, at most 1.", valueName: "number"))
    var minSsim: Double?

    @Flag(help: "Scales B to the size of A; otherwise sizes that differ are an error.")
    var resize = false

    @Flag(help: "Prints one JSON object.")
    var json = false

    func validate() throws {
        guard (1...255).contains(amplify) else { throw ValidationError("--amplify is 1 to 255.") }
        if let minPsnr, !minPsnr.isFinite { throw ValidationError("--min-psnr is a number.") }
        if let minSsim, !(-1...1).contains(minSsim) { throw ValidationError("--min-ssim is at most 1.") }
        if output?.isEmpty == true { throw ValidationError("-o is empty.") }
    }

    func run() async throws {
        AtomicFile.removeTemporaryFilesAtSignals()
        let report = try await LoadedPicture.reporting { try await compare() }
        Output.line(json ? Output.json(report) : report.line)
        // An infinite PSNR is above every limit.
        let isBelow = minPsnr.map { report.psnr < $0 } == true || minSsim.map { report.ssim < $0 } == true
        if isBelow { throw ExitCode(1) }
    }

    private func compare() async throws -> CompareReport {
        let one = try await LoadedPicture.load(first)
        var other = try await LoadedPicture.load(second)
        if one.size != other.size {
            guard resize else {
                throw FailureReport(
                    code: "processing", message: "the sizes differ: \(one.size) and \(other.size); --resize scales B")
            }
            other = try other.processed(by: [.resize(to: one.size, mode: .stretch, upscale: true)])
        }
        let (left, right) = (one.bitmap, other.bitmap)
        let (amplify, output) = (amplify, output)
        return try await ThreadPools.cpu.run { context in
            let difference = PictureDifference(left, right)
            if let output {
                try LoadedPicture.save(
                    try PictureDifference.picture(left, right, amplified: amplify), to: output)
            }
            let ssim = difference.isNone ? 1 : StructuralSimilarity.index(left, right)
            let score = try left.similarity(to: right, context: context) ?? 0
            return CompareReport(size: left.size, difference: difference, ssim: ssim, score: score)
        }
    }
}

/// The output of `halcyon compare`.
struct CompareReport: Encodable, Sendable {
    let size: PixelSize
    let difference: PictureDifference
    let ssim: Double
    let score: Double

    var psnr: Double { difference.psnr }

    private enum Keys: String, CodingKey {
        case identical, width, height, psnr, ssim, score, largest, pixels
    }

    /// Encodes every key each time. An infinite PSNR, which JSON has no number for, is `null`.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(difference.isNone, forKey: .identical)
        try container.encode(size.width, forKey: .width)
        try container.encode(size.height, forKey: .height)
        try container.encode(psnr.isFinite ? psnr : nil, forKey: .psnr)
        try container.encode(ssim, forKey: .ssim)
        try container.encode(score, forKey: .score)
        try container.encode(difference.largest, forKey: .largest)
        try container.encode(difference.pixels, forKey: .pixels)
    }

    var line: String {
        if difference.isNone { return "identical" }
        return String(format: "PSNR %.2f dB, SSIM %.5f, score %.1f, ", psnr, ssim, score)
            + "\(difference.pixels) pixels differ, by \(difference.largest) at most"
    }
}
