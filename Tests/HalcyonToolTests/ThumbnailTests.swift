import Foundation
import Glibc
import Halcyon
import TestSupport
import Testing

@testable import HalcyonTool

/// `halcyon thumbnail`.
@Suite(.timeLimit(.minutes(5))) struct ThumbnailTests {
    @Test(arguments: ["avif/420.avif", "jpeg/orientation-6.jpg", "webp/animated.webp", "svg/sized.svg"])
    func aFileBecomesASmallPNG(name: String) async throws {
        let file = TestFiles.url(name)
        guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else {
            Issue.record("there is no \(name)")
            return
        }
        let tool = try Tool()
        let result = try await tool.run(
            ["thumbnail", "--size", "16", file.absoluteString, tool.path("a.png")])
        #expect(result.status == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result.errors)")
        let info = try CoderRegistry.shared.probe(try tool.data("a.png"))
        #expect(info.format == .png && !info.isAnimated)
        #expect(max(info.size.width, info.size.height) <= 16 && info.orientation == .up)
    }

    @Test func aPathIsASourceToo() async throws {
        let tool = try Tool()
        let result = try await tool.run(["thumbnail", fixture("png/rgb8.png"), tool.path("no-extension")])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try decoded(try tool.data("no-extension")).size == PixelSize(48, 32))
    }

    /// A URL of bytes that are no text, and a name with a percent sign.
    @Test func everyNameHasAURL() async throws {
        let tool = try Tool()
        try AtomicFile.write(
            try TestFiles.data("png/rgb8.png"),
            to: BytePath(tool.path("in").utf8).appending([0xFF] + Array(" %41".utf8)))
        let url = "file://\(tool.path("in"))/%FF%20%2541"
        let result = try await tool.run(["thumbnail", url, tool.path("a.png")])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try decoded(try tool.data("a.png")).size == PixelSize(48, 32))
    }

    @Test(arguments: ["bad/truncated.jpg", "bad/bomb-60000x60000.png", "bad/page.html", "missing.png"])
    func aFileThatCannotBeShownIsAFailureAndNoFile(name: String) async throws {
        let tool = try Tool()
        let result = try await tool.run(["thumbnail", fixture(name), tool.path("out/a.png")])
        #expect(result.status == 1 && result.errorLines.count == 1)
        #expect(!tool.exists("out"))
    }

    @Test func theMemoryIsBounded() async throws {
        let tool = try Tool()
        let result = try await tool.run(
            ["thumbnail", "--max-memory", "64", fixture("webp/lossy.webp"), tool.path("a.png")])
        #expect(result.status == 1 && result.errors.hasSuffix(" (limitExceeded)\n"), "\(result.errors)")
        #expect(!tool.exists("a.png"))
    }

    @Test(arguments: [
        [], ["a.png"], ["http://example.org/a.png", "b.png"], ["a.png", ""], ["a.png", "b.png", "--size", "0"],
        ["a.png", "b.png", "--timeout", "0"], ["a.png", "b.png", "--max-memory", "0"],
    ])
    func wrongUsageIs64(arguments: [String]) async throws {
        #expect(try await Tool().run(["thumbnail"] + arguments).status == 64)
    }
}
