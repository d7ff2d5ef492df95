import Foundation
import Halcyon
import TestSupport
import Testing

/// The place where `-o` writes, and the bytes.
@Suite(.timeLimit(.minutes(5))) struct LoadOutputTests {
    @Test(arguments: [
        ("png/rgb8.png", "same.png"), ("jpeg/orientation-6.jpg", "same.jpg"), ("jpeg/cmyk.jpg", "same.JPEG"),
        ("gif/animated.gif", "same.gif"), ("webp/animated.webp", "same.webp"), ("png/apng.png", "none"),
        ("webp/lossy.webp", "none"), ("tiff/gray16.tiff", "same.tif"), ("svg/sized.svg", "same.SVG"),
    ])
    func bytesThatNothingChangesAreKept(file: String, name: String) async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture(file), "-o", tool.path(name))
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.load().output == tool.path(name))
        #expect(try tool.data(name) == TestFiles.data(file))
    }

    @Test(arguments: [("a.jpg", "jpeg"), ("a.JPEG", "jpeg"), ("a.webp", "webp"), ("a.png", "png")])
    func aFileIsWrittenInTheFormatOfItsName(name: String, format: String) async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture("gif/still.gif"), "-o", tool.path(name))
        #expect(result.status == 0, "\(result.errors)")
        // The report describes the image that was loaded.
        #expect(try result.load().format == "gif")
        let info = try CoderRegistry.shared.probe(try tool.data(name))
        #expect(info.format.name == format)
        #expect(info.size == PixelSize(48, 32))
    }

    @Test(arguments: [
        ("png/rgb8.png", "unknown.bin", "bin"), ("png/rgb8.png", "a.tiff", "tiff"),
        ("gif/still.gif", "deep/a.svg", "svg"),
    ])
    func aNameThatNoEncoderWritesIsAnErrorAndNoFile(file: String, name: String, text: String) async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture(file), "-o", tool.path(name))
        #expect(result.status == 1)
        let error = try #require(try result.load().error)
        #expect(error.code == "unsupportedFormat")
        #expect(error.message.contains("'\(text)'") && error.message.contains("webp"))
        #expect(try tool.files(in: "").filter { $0 == name || $0 == "deep" }.isEmpty)
        // The format can be given.
        #expect(try await tool.load(fixture(file), "-o", tool.path(name), "--format", "png").status == 0)
        #expect(try CoderRegistry.shared.probe(try tool.data(name)).format == .png)
    }

    @Test func aFormatThatIsOnlyReadIsCopiedAndNotEncoded() async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture("tiff/gray16.tiff"), "-o", tool.path("a.tiff"), "--resize", "8x8")
        #expect(result.status == 1)
        #expect(try result.load().error?.code == "unsupportedFormat")
        #expect(try !tool.files(in: "").contains("a.tiff"))
    }

    @Test func losslessConversionsKeepEveryPixel() async throws {
        let tool = try Tool()
        _ = try await tool.load(fixture("webp/lossless-alpha.webp"), "-o", tool.path("a.png"))
        let source = try decoded(try TestFiles.data("webp/lossless-alpha.webp"))
        let result = try decoded(try tool.data("a.png"))
        #expect(source.withPixels { [UInt8]($0) } == result.withPixels { [UInt8]($0) })
    }

    @Test func aFolderGetsNumberedNames() async throws {
        let tool = try Tool()
        let server = try await fixtureServer("webp/lossy.webp")
        let png = try TestFiles.data("png/1x1.png")
        let result = try await tool.load(
            fixture("png/rgb8.png"), fixture("jpeg/gray.jpg"), server.url("/webp/lossy.webp?size=2").absoluteString,
            "data:image/png;base64,\(png.base64EncodedString())", tool.path("missing.png"), fixture("png/rgb8.png"),
            "-o", tool.path("deep/folder"))
        let names = ["1-rgb8.png", "2-gray.jpg", "3-lossy.webp", "4-image.png", "6-rgb8.png"]
        #expect(try tool.files(in: "deep/folder") == names)
        let outputs = try result.loads().map(\.output)
        #expect(outputs.compactMap(\.self) == names.map { tool.path("deep/folder/\($0)") })
        #expect(outputs[4] == nil)
        #expect(try tool.data("deep/folder/2-gray.jpg") == TestFiles.data("jpeg/gray.jpg"))
        #expect(try tool.data("deep/folder/4-image.png") == png)
        await server.stop()
    }

    @Test(arguments: ["new/", "there", "there/"])
    func oneSourceGoesIntoAFolderToo(folder: String) async throws {
        let tool = try Tool()
        try FileManager.default.createDirectory(
            at: tool.folder.appending(path: "there"), withIntermediateDirectories: true)
        let result = try await tool.load(fixture("png/rgb8.png"), "-o", tool.path("") + folder)
        #expect(result.status == 0)
        #expect(try tool.files(in: folder) == ["1-rgb8.png"])
    }

    @Test func aFormatNamesTheFilesOfAFolder() async throws {
        let tool = try Tool()
        _ = try await tool.load(
            fixture("png/rgb8.png"), fixture("gif/still.gif"), "-o", tool.path("out"), "--format", "jpeg")
        #expect(try tool.files(in: "out") == ["1-rgb8.jpg", "2-still.jpg"])
    }

    @Test func standardOutputIsTheImageAndReportsGoToStandardError() async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture("png/rgb8.png"), "-o", "-")
        #expect(result.status == 0)
        #expect(result.output == (try TestFiles.data("png/rgb8.png")))
        let reports = try ToolResult.decode(result.errorLines) as [LoadLine]
        #expect(reports.map(\.output) == ["-"])
    }

    @Test func standardOutputStaysEmptyWhereThereIsNoImage() async throws {
        let tool = try Tool()
        let result = try await tool.run(["load", fixture("bad/truncated.jpg"), "-o", "-"])
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.errorLines.count == 1)
    }

    @Test func standardOutputTakesAFormat() async throws {
        let tool = try Tool()
        let result = try await tool.run(["load", fixture("png/rgb8.png"), "-o", "-", "--format", "webp", "--quiet"])
        #expect(result.errors.isEmpty)
        #expect(try CoderRegistry.shared.probe(result.output).format == .webp)
    }

    @Test func aFileIsReplaced() async throws {
        let tool = try Tool()
        try Data("old".utf8).write(to: tool.folder.appending(path: "a.png"))
        #expect(try await tool.load(fixture("png/rgb8.png"), "-o", tool.path("a.png")).status == 0)
        #expect(try tool.data("a.png") == TestFiles.data("png/rgb8.png"))
    }

    @Test func aFileThatCannotBeWrittenIsAnError() async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture("png/rgb8.png"), "-o", "/dev/null/a.png")
        #expect(result.status == 1)
        #expect(try result.load().error?.code == "processing")
        #expect(result.errors.contains("/dev/null/a.png"))
    }

    @Test func severalPassesWriteOnce() async throws {
        let tool = try Tool()
        let result = try await tool.load(
            fixture("png/rgb8.png"), "-o", tool.path("a.jpg"), "--passes", "2", "--format", "png")
        #expect(try result.loads().map(\.output) == [tool.path("a.jpg"), nil])
        // The option takes precedence over the name.
        #expect(try tool.data("a.jpg") == TestFiles.data("png/rgb8.png"))
    }
}
