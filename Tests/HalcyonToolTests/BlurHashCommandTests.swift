import Foundation
import Halcyon
import TestSupport
import Testing

/// `halcyon blurhash`.
@Suite(.timeLimit(.minutes(5))) struct BlurHashCommandTests {
    @Test(arguments: [([], 4, 3), (["--components", "9x1"], 9, 1)])
    func theTextIsTheLibrarys(options: [String], across: Int, down: Int) async throws {
        let result = try await Tool().run(["blurhash", fixture("png/rgb8.png")] + options)
        #expect(result.status == 0, "\(result.errors)")
        let image = try Image(contentsOf: TestFiles.url("png/rgb8.png"))
        #expect(result.lines == [try BlurHash(encoding: image, componentsX: across, componentsY: down).text])
    }

    @Test(arguments: [([], PixelSize(32, 32)), (["--size", "20x10"], PixelSize(20, 10))])
    func aTextIsDrawn(options: [String], size: PixelSize) async throws {
        let tool = try Tool()
        let hash = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
        let result = try await tool.run(["blurhash", "--decode", hash, "-o", tool.path("a.png")] + options)
        #expect(result.status == 0 && result.output.isEmpty, "\(result.errors)")
        let drawn = try decoded(try tool.data("a.png"))
        let expected = try BlurHash(hash).image(size).bitmap
        #expect(drawn.size == size)
        #expect(drawn.withPixels { [UInt8]($0) } == expected.withPixels { [UInt8]($0) })
    }

    @Test(arguments: [
        ["--decode", "short", "-o", "a.png"],
        ["--decode", "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "-o", "a.png", "--size", "5000x1"],
        ["--decode", "LEHV6nWB2yk8pyo0adR*.7kCMdnj", "-o", "a.svg"],
    ])
    func whatCannotBeDrawnIsAFailureAndNoFile(arguments: [String]) async throws {
        let tool = try Tool()
        let result = try await tool.run(
            ["blurhash"] + arguments.map { $0.hasPrefix("a.") ? tool.path($0) : $0 })
        #expect(result.status == 1 && result.output.isEmpty && result.errorLines.count == 1)
        #expect(!tool.exists("a.png") && !tool.exists("a.svg"))
    }

    @Test(arguments: [
        [], ["a", "--components", "10x1"], ["a", "--components", "4"], ["a", "-o", "b.png"], ["--decode", "x"],
        ["a", "--decode", "x", "-o", "b.png"], ["--decode", "x", "-o", ""],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        #expect(try await Tool().run(["blurhash"] + arguments).status == 64)
    }
}
