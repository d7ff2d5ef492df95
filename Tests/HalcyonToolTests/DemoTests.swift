import Foundation
import Halcyon
import TestSupport
import Testing

/// `halcyon demo`.
@Suite(.timeLimit(.minutes(5))) struct DemoTests {
    /// A gallery of two images. The picture that the first run draws is there already, since drawing it takes long.
    private func makeGallery(_ tool: Tool, broken: String = "bad/truncated.jpg") throws {
        for folder in ["gallery", "generated"] {
            try FileManager.default.createDirectory(
                at: tool.folder.appending(path: folder), withIntermediateDirectories: true)
        }
        let files = [
            ("jpeg/baseline-420.jpg", "gallery/one.jpg"), ("gif/animated.gif", "gallery/two.gif"),
            (broken, "gallery/broken.jpg"), ("jpeg/progressive.jpg", "generated/high-peaks-13-megapixels.jpg"),
        ]
        for (fixture, name) in files {
            try TestFiles.data(fixture).write(to: tool.folder.appending(path: name))
        }
        let list = #"[{"file": "one.jpg", "title": "First"}, {"file": "two.gif", "title": "Second"}]"#
        try Data(list.utf8).write(to: tool.folder.appending(path: "gallery/gallery.json"))
    }

    private func demo(_ tool: Tool, _ options: String...) async throws -> ToolResult {
        try await tool.run(
            [
                "demo", "--gallery", tool.path("gallery"), "--generated", tool.path("generated"), "-o",
                tool.path("out/sheet.png"),
            ] + options)
    }

    private func expectTidied(_ tool: Tool) throws {
        #expect(try tool.files(in: "tmp").isEmpty)
        #expect(!FileManager.default.fileExists(atPath: tool.path("xdg")))
    }

    @Test func aGalleryIsLoadedThreeTimesAndDrawn() async throws {
        let tool = try Tool()
        try makeGallery(tool)
        let result = try await demo(tool)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.isEmpty)
        let sheet = try decoded(try tool.data("out/sheet.png"))
        #expect(sheet.width > 288 && sheet.height > 216)
        for (title, format) in [("First", "jpeg"), ("Second", "gif (4 frames)"), ("High peaks", "jpeg")] {
            let row = try #require(result.lines.last { $0.hasPrefix(title) && $0.contains("48x32") })
            for word in [format, "network ", "disk ", "memory "] { #expect(row.contains(word)) }
        }
        #expect(result.lines.contains { $0.hasPrefix("A broken file: damagedImage: ") })
        #expect(result.lines.contains { $0.hasPrefix("Nothing there: httpStatus: ") && $0.contains("404") })
        #expect(result.lines.count(where: { $0.hasPrefix("  5/5  ") }) == 3)
        #expect(result.lines.last == "contact sheet: \(tool.path("out/sheet.png"))")
        try expectTidied(tool)
    }

    @Test func anImageThatMustFailAndDoesNotIsAFailure() async throws {
        let tool = try Tool()
        try makeGallery(tool, broken: "jpeg/gray.jpg")
        let result = try await demo(tool, "--concurrency", "1")
        #expect(result.status == 1)
        #expect(result.errorLines.map { $0.hasPrefix("halcyon: A broken file: ") } == [true])
        #expect(try decoded(try tool.data("out/sheet.png")).width > 0)
        try expectTidied(tool)
    }

    @Test func aListOfURLsStandsInForTheGallery() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png", "webp/lossy.webp")
        let urls = ["/png/rgb8.png", "/webp/lossy.webp"].map { server.url($0).absoluteString }
        try Data("# list\n\n\(urls[0])\n  \(urls[1])\n".utf8).write(to: tool.folder.appending(path: "list.txt"))
        let result = try await demo(tool, "--urls", tool.path("list.txt"))
        #expect(result.status == 0, "\(result.errors)")
        for url in urls { #expect(result.lines.contains { $0.hasPrefix(url) && $0.contains("memory ") }) }
        #expect(server.requests.count == 2)
        #expect(try decoded(try tool.data("out/sheet.png")).width > 0)
        try expectTidied(tool)
        await server.stop()
    }

    @Test func aURLThatFailsIsAFailure() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("png/rgb8.png")
        let list = "\(server.url("/png/rgb8.png").absoluteString)\n\(server.url("/missing").absoluteString)\n"
        try Data(list.utf8).write(to: tool.folder.appending(path: "list.txt"))
        let result = try await demo(tool, "--urls", tool.path("list.txt"))
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1)
        #expect(result.lines.contains { $0.contains("/missing: httpStatus: ") })
        try expectTidied(tool)
        await server.stop()
    }

    @Test func aGalleryThatIsNotThereIsAFailure() async throws {
        let tool = try Tool()
        try makeGallery(tool)
        try FileManager.default.removeItem(at: tool.folder.appending(path: "gallery"))
        let result = try await demo(tool)
        #expect(result.status == 1)
        #expect(!result.errors.isEmpty)
        try expectTidied(tool)
    }

    @Test func anEmptyListMakesAnEmptySheet() async throws {
        let tool = try Tool()
        try Data("# nothing\n".utf8).write(to: tool.folder.appending(path: "list.txt"))
        let result = try await demo(tool, "--urls", tool.path("list.txt"))
        #expect(result.status == 0, "\(result.errors)")
        try expectTidied(tool)
    }
}
