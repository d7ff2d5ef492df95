import Foundation
import Halcyon
import TestSupport
import Testing

@testable import HalcyonTool

/// `halcyon colors`.
@Suite(.timeLimit(.minutes(5))) struct ColorsTests {
    private struct Report: Decodable {
        struct Entry: Decodable {
            let color: String
            let percent: Double
        }
        let source: String
        let colors: [Entry]
    }

    /// A picture of bands; each has a colour, as premultiplied blue, green, red, alpha, and a number of rows.
    private func bands(_ bands: [(pixel: [UInt8], rows: Int)]) throws -> Image {
        let rows = bands.flatMap { Array(repeating: $0.pixel, count: $0.rows) }
        let isOpaque = rows.allSatisfy { $0[3] == 255 }
        let bitmap = try Bitmap(size: PixelSize(10, rows.count), isOpaque: isOpaque) { output in
            for index in output.indices { output[index] = rows[index / 40][index % 4] }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: bitmap.size, hasAlpha: !isOpaque))
    }

    private let red: [UInt8] = [0x33, 0x22, 0xCC, 255]
    private let blue: [UInt8] = [0xDD, 0x44, 0x11, 255]
    private let white: [UInt8] = [255, 255, 255, 255]

    @Test func sharesOfPlainColorsAreExact() async throws {
        let tool = try Tool()
        let image = try bands([(white, 20), (red, 50), (blue, 30)])
        try image.write(to: tool.folder.appending(path: "a.png"))
        let result = try await tool.run(["colors", tool.path("a.png")])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines == ["#cc2233   50.00%", "#1144dd   30.00%", "#ffffff   20.00%"])
        let json = try await tool.run(["colors", "--json", "--count", "64", tool.path("a.png")])
        let report = try #require(try json.objects(Report.self).first)
        #expect(report.source == tool.path("a.png"))
        #expect(report.colors.map(\.color) == ["#cc2233", "#1144dd", "#ffffff"])
        #expect(report.colors.map(\.percent) == [50, 30, 20])
    }

    @Test func transparentPixelsDoNotCount() throws {
        let half: [UInt8] = [0x6F, 0x22, 0x08, 128]
        let entries = Palette(try bands([([0, 0, 0, 0], 80), (red, 10), (half, 10)]), count: 5).entries
        #expect(entries.map(\.color) == ["#cc2233", "#1044dd"])
        // A pixel counts as much as it is opaque.
        #expect(entries.map(\.percent) == [66.58, 33.42])
        #expect(Palette(try bands([([0, 0, 0, 0], 3)]), count: 5).entries.isEmpty)
    }

    @Test func fewerColorsThanThereAreAreAverages() throws {
        let near: [UInt8] = [0x43, 0x32, 0xDC, 255]
        let entries = Palette(try bands([(red, 30), (near, 30), (blue, 40)]), count: 2).entries
        #expect(entries.map(\.percent) == [60, 40])
        #expect(entries.last?.color == "#1144dd")
        let average = try #require(entries.first.flatMap { Color(hex: $0.color) })
        #expect(average.red > 0xCC / 255.0 && average.red < 0xDC / 255.0)
        // The colours that cannot be told apart are one, however many are asked for.
        let twin: [UInt8] = [0x34, 0x22, 0xCC, 255]
        #expect(Palette(try bands([(red, 30), (twin, 30)]), count: 5).entries.count == 1)
    }

    @Test func equalPicturesHaveEqualPalettes() throws {
        let image = try Image(contentsOf: TestFiles.url("jpeg/baseline-444.jpg"))
        let palettes = (0..<3).map { _ in Palette(image, count: 8).entries.map { "\($0.color) \($0.percent)" } }
        #expect(palettes[0] == palettes[1] && palettes[1] == palettes[2])
        #expect((1...8).contains(palettes[0].count))
        #expect(abs(Palette(image, count: 8).entries.reduce(0) { $0 + $1.percent } - 100) < 0.1)
    }

    /// The values that the author of OKLab gives for sRGB's red, and the way back.
    @Test func theColorSpaceIsOKLab() {
        let lab = OKLab(Color(red: 1, green: 0, blue: 0))
        #expect(abs(lab.lightness - 0.62796) < 1e-5 && abs(lab.a - 0.22486) < 1e-5 && abs(lab.b - 0.12585) < 1e-5)
        for hex in ["#000000", "#ffffff", "#ff0000", "#00ff00", "#0000ff", "#123456", "#010203", "#808080"] {
            #expect(Color(hex: hex).map { OKLab($0).color.description } == hex)
        }
    }

    @Test(arguments: [[], ["a", "--count", "0"], ["a", "--count", "65"], ["a", "b"]])
    func wrongUsageIs64(arguments: [String]) async throws {
        #expect(try await Tool().run(["colors"] + arguments).status == 64)
    }

    @Test func aSourceThatIsNoPictureIsAFailure() async throws {
        let result = try await Tool().run(["colors", fixture("bad/text.txt")])
        #expect(result.status == 1 && result.output.isEmpty && result.errorLines.count == 1)
    }
}
