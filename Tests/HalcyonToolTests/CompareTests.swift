import Foundation
import Halcyon
import TestSupport
import Testing

@testable import HalcyonTool

/// `halcyon compare`.
@Suite(.timeLimit(.minutes(5))) struct CompareTests {
    private struct Report: Decodable {
        let identical: Bool
        let width: Int
        let height: Int
        let psnr: Double?
        let ssim: Double
        let score: Double
        let largest: Int
        let pixels: Int
    }

    /// An opaque picture by a formula of the place.
    private func picture(
        size: PixelSize = PixelSize(40, 30), _ color: (Int, Int) -> (red: Int, green: Int, blue: Int)
    ) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: true) { output in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (red, green, blue) = color(x, y)
                    let offset = (y * size.width + x) * 4
                    for (index, value) in [blue, green, red, 255].enumerated() {
                        output[offset + index] = UInt8(min(255, max(0, value)))
                    }
                }
            }
        }
    }

    private func plain(_ x: Int, _ y: Int) -> (red: Int, green: Int, blue: Int) {
        ((x * 6 + y * 2) % 256, (x * y) % 256, (255 - x * 3 - y * 4) % 256)
    }

    /// The picture with a noise of up to 10 steps.
    private func noisy(_ x: Int, _ y: Int) -> (red: Int, green: Int, blue: Int) {
        let (red, green, blue) = plain(x, y)
        let noise = ((((x * 7 + y * 13) * 2_654_435_761) >> 8) % 21) - 10
        return (red + noise, green - noise, blue + noise / 2)
    }

    private func save(_ tool: Tool, _ name: String, _ bitmap: Bitmap) throws {
        let image = Image(bitmap: bitmap, info: ImageInfo(format: .png, size: bitmap.size))
        try image.write(to: tool.folder.appending(path: name))
    }

    /// The values are those of the same formulas in NumPy and SciPy (`convolve2d` with the whole window, mode `valid`).
    @Test func theValuesAreThoseOfAnotherImplementation() throws {
        let (one, other) = (try picture(plain), try picture(noisy))
        let difference = PictureDifference(one, other)
        #expect(abs(difference.meanSquare - 26.373055555555556) < 1e-12)
        #expect(abs(difference.psnr - 33.91919911239782) < 1e-10)
        #expect(difference.largest == 10 && difference.pixels == 1144)
        #expect(abs(StructuralSimilarity.index(one, other) - 0.9982737951990903) < 1e-12)
        let inverted = try picture {
            let (red, green, blue) = plain($0, $1)
            return (255 - red, 255 - green, 255 - blue)
        }
        #expect(abs(StructuralSimilarity.index(one, inverted) - -0.8223411677458714) < 1e-12)
        let small = PixelSize(7, 5)
        let index = StructuralSimilarity.index(try picture(size: small, plain), try picture(size: small, noisy))
        #expect(abs(index - 0.9824441789563605) < 1e-12)
    }

    /// The index of two even greys is that of their means alone: (2ab + C1) / (a² + b² + C1).
    @Test func evenPicturesHaveAClosedForm() throws {
        for size in [PixelSize(40, 30), PixelSize(1, 1), PixelSize(3, 90)] {
            let one = try picture(size: size) { _, _ in (100, 100, 100) }
            let other = try picture(size: size) { _, _ in (110, 110, 110) }
            let c1 = (0.01 * 255) * (0.01 * 255)
            let expected = (2 * 100 * 110 + c1) / (100 * 100 + 110 * 110 + c1)
            #expect(abs(StructuralSimilarity.index(one, other) - expected) < 1e-9)
            #expect(abs(StructuralSimilarity.index(one, one) - 1) < 1e-12)
            #expect(abs(PictureDifference(one, other).psnr - 20 * log10(25.5)) < 1e-9)
        }
    }

    @Test func alphaCounts() throws {
        let size = PixelSize(2, 1)
        let one = try Bitmap(size: size, isOpaque: false, pixels: [0, 0, 0, 255, 0, 0, 0, 0])
        let other = try Bitmap(size: size, isOpaque: false, pixels: [0, 0, 0, 255, 0, 0, 0, 255])
        let difference = PictureDifference(one, other)
        #expect(!difference.isNone && difference.pixels == 1 && difference.largest == 255)
        #expect(difference.meanSquare == 8128.125)
        let drawn = try PictureDifference.picture(one, other, amplified: 1).bitmap
        #expect(drawn.bytes(x: 0, y: 0) == [0, 0, 0, 255] && drawn.bytes(x: 1, y: 0) == [255, 255, 255, 255])
    }

    @Test func equalPicturesAreIdentical() async throws {
        let tool = try Tool()
        let (png, webp) = (fixture("png/rgb8.png"), tool.path("a.webp"))
        let same = try await tool.run(["compare", png, png, "--min-psnr", "100", "--min-ssim", "1"])
        #expect(same.status == 0 && same.lines == ["identical"], "\(same.errors)")
        // A lossless copy in another format.
        try Image(contentsOf: URL(filePath: png)).write(
            to: URL(filePath: webp), options: EncodeOptions(isLossless: true))
        let result = try await tool.run(["compare", "--json", png, webp])
        let report = try #require(try result.objects(Report.self).first)
        #expect(report.identical && report.psnr == nil && report.ssim == 1 && report.score == 100 && report.pixels == 0)
        #expect(report.width == 48 && report.height == 32)
    }

    @Test(arguments: [
        ([], 0), (["--min-psnr", "33.9"], 0), (["--min-psnr", "34"], 1), (["--min-ssim", "0.99"], 0),
        (["--min-ssim", "0.999"], 1), (["--min-psnr", "33", "--min-ssim", "0.999"], 1),
    ])
    func theStatusSaysWhetherTheyAreNearEnough(options: [String], status: Int) async throws {
        let tool = try Tool()
        try save(tool, "a.png", try picture(plain))
        try save(tool, "b.png", try picture(noisy))
        let result = try await tool.run(["compare", tool.path("a.png"), tool.path("b.png")] + options)
        #expect(result.status == Int32(status), "\(result.errors)")
        #expect(result.lines == ["PSNR 33.92 dB, SSIM 0.99827, score 95.2, 1144 pixels differ, by 10 at most"])
        #expect(result.errors.isEmpty)
    }

    @Test func theDifferenceIsDrawn() async throws {
        let tool = try Tool()
        try save(tool, "a.png", try picture { _, _ in (100, 100, 100) })
        try save(tool, "b.png", try picture { x, _ in (100, x == 0 ? 107 : 100, x == 1 ? 0 : 100) })
        let result = try await tool.run(
            [
                "compare", tool.path("a.png"), tool.path("b.png"), "-o", tool.path("deep/diff.png"), "--amplify", "20",
            ])
        #expect(result.status == 0, "\(result.errors)")
        let drawn = try decoded(try tool.data("deep/diff.png"))
        #expect(drawn.bytes(x: 0, y: 0) == [0, 140, 0, 255])
        #expect(drawn.bytes(x: 1, y: 5) == [255, 0, 0, 255])
        #expect(drawn.bytes(x: 2, y: 5) == [0, 0, 0, 255])
    }

    @Test func sizesThatDifferAreAnError() async throws {
        let tool = try Tool()
        try save(tool, "a.png", try picture { _, _ in (10, 20, 30) })
        try save(tool, "b.png", try picture(size: PixelSize(20, 20)) { _, _ in (10, 20, 30) })
        let paths = [tool.path("a.png"), tool.path("b.png")]
        let result = try await tool.run(["compare"] + paths)
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errors.contains("40x30") && result.errors.contains("20x20"))
        let scaled = try await tool.run(["compare", "--resize"] + paths)
        #expect(scaled.status == 0 && scaled.lines == ["identical"], "\(scaled.errors)")
    }

    @Test func aPictureThatCannotBeReadIsNamed() async throws {
        let bad = fixture("bad/truncated.jpg")
        let result = try await Tool().run(["compare", fixture("png/rgb8.png"), bad])
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errorLines.count == 1)
        #expect(result.errors.hasPrefix("halcyon: \(bad): ") && result.errors.hasSuffix(" (damagedImage)\n"))
    }

    @Test(arguments: [
        [], ["a"], ["a", "b", "c"], ["a", "b", "--amplify", "0"], ["a", "b", "--min-ssim", "2"],
        ["a", "b", "--min-psnr", "nan"], ["a", "b", "-o", ""],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        #expect(try await Tool().run(["compare"] + arguments).status == 64)
    }
}
