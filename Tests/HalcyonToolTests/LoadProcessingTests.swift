import Foundation
import Halcyon
import TestSupport
import Testing

/// The processing of pixels by `load`, and their encoding.
@Suite(.timeLimit(.minutes(5))) struct LoadProcessingTests {
    private static let source = "png/rgb8.png"

    private func processed(_ options: String..., file: String = source) async throws -> Bitmap {
        let tool = try Tool()
        let child = try await tool.run(["load", "--quiet", fixture(file), "-o", "-", "--format", "png"] + options)
        try #require(child.status == 0, "\(child.errors)")
        return try decoded(child.output)
    }

    @Test(arguments: [
        ("20x10", PixelSize(15, 10)), ("20x10:fit", PixelSize(15, 10)), ("20x10:fill", PixelSize(20, 10)),
        ("20x10:stretch", PixelSize(20, 10)), ("96x96", PixelSize(48, 32)), ("96x96:fill", PixelSize(32, 32)),
    ])
    func resizeTakesAModeAndNeverEnlarges(option: String, size: PixelSize) async throws {
        let tool = try Tool()
        let line = try await tool.load(fixture(Self.source), "--resize", option).load()
        #expect(line.size == size)
        #expect(line.bytes == 1416)
    }

    @Test func processorsRunInTheirOrder() async throws {
        let source = try decoded(try TestFiles.data(Self.source))
        let result = try await processed("--process", "crop=10x8@2,3", "--process", "flip=horizontal")
        try #require(result.size == PixelSize(10, 8))
        for y in 0..<8 {
            for x in 0..<10 { #expect(result.bytes(x: x, y: y) == source.bytes(x: 11 - x, y: y + 3)) }
        }
        let reversed = try await processed("--process", "flip=horizontal", "--process", "crop=10x8@2,3")
        for y in 0..<8 {
            for x in 0..<10 { #expect(reversed.bytes(x: x, y: y) == source.bytes(x: 45 - x, y: y + 3)) }
        }
    }

    @Test func roundedCornersAreTransparent() async throws {
        let source = try decoded(try TestFiles.data(Self.source))
        let result = try await processed(
            "--process", "crop=10x8@2,3", "--process", "flip=vertical", "--process", "round=4")
        #expect(!result.isOpaque)
        for (x, y) in [(0, 0), (9, 0), (0, 7), (9, 7)] { #expect(result.bytes(x: x, y: y) == [0, 0, 0, 0]) }
        #expect(result.bytes(x: 5, y: 3) == source.bytes(x: 7, y: 7))
    }

    @Test func resizeComesBeforeTheProcessors() async throws {
        #expect(try await processed("--process", "crop=40x5", "--resize", "20x10:fill").size == PixelSize(20, 5))
        #expect(
            try await processed("--process", "crop=40x5", "--process", "resize=20x20:stretch").size == PixelSize(20, 5))
    }

    @Test(arguments: [
        ("crop=10x8", 19, 12, PixelSize(10, 8)), ("crop=10x8@0,0", 0, 0, PixelSize(10, 8)),
        ("crop=10x8@-5,-4", 0, 0, PixelSize(5, 4)), ("crop=10x8@40,30", 40, 30, PixelSize(8, 2)),
        ("crop=999x999", 0, 0, PixelSize(48, 32)),
    ])
    func cropsKeepWhatLiesInside(option: String, x: Int, y: Int, size: PixelSize) async throws {
        let source = try decoded(try TestFiles.data(Self.source))
        let result = try await processed("--process", option)
        #expect(result.size == size)
        #expect(result.bytes(x: 0, y: 0) == source.bytes(x: x, y: y))
    }

    @Test(arguments: [("png", ImageFormat.png), ("jpeg", .jpeg), ("JPG", .jpeg), ("webp", .webp)])
    func formatChoosesTheEncoder(option: String, format: ImageFormat) async throws {
        let tool = try Tool()
        let result = try await tool.load(fixture("gif/still.gif"), "-o", tool.path("image"), "--format", option)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try CoderRegistry.shared.probe(try tool.data("image")).format == format)
    }

    @Test(arguments: [
        ("gif/transparent.gif", ImageFormat.gif, 1), ("gif/animated.gif", .gif, 4), ("webp/animated.webp", .webp, 3),
        ("png/apng.png", .png, 3),
    ])
    func aReducedImageKeepsItsFormatAndItsFrames(file: String, format: ImageFormat, frames: Int) async throws {
        let tool = try Tool()
        _ = try await tool.load(fixture(file), "-o", tool.path("out/"), "--resize", "20x20")
        #expect(try tool.files(in: "out").map { URL(filePath: $0).pathExtension } == [format.fileExtension])
        let name = try #require(try tool.files(in: "out").first)
        let image = try Image(data: try tool.data("out/\(name)"))
        #expect(image.info.format == format)
        #expect(image.info.frameCount == frames)
        #expect(max(image.width, image.height) == 20)
    }

    @Test(arguments: ["jpeg", "webp"])
    func qualityDecidesHowManyBytesThereAre(format: String) async throws {
        let tool = try Tool()
        for quality in ["5", "95"] {
            let result = try await tool.load(
                fixture(Self.source), "-o", tool.path(quality), "--format", format, "--quality", quality)
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try tool.data("5").count < tool.data("95").count)
    }

    @Test func qualityEncodesAgain() async throws {
        let tool = try Tool()
        _ = try await tool.load(fixture("jpeg/baseline-444.jpg"), "-o", tool.path("a.jpg"), "--quality", "10")
        #expect(try tool.data("a.jpg").count < TestFiles.data("jpeg/baseline-444.jpg").count)
    }

    @Test(arguments: ["png/rgb8.png", "jpeg/baseline-420.jpg", "webp/lossy.webp", "gif/still.gif"])
    func aByteLimitScalesTheImageDown(file: String) async throws {
        let tool = try Tool()
        let line = try await tool.load(fixture(file), "--max-bytes", "2K", "-o", tool.path("out/")).load()
        let size = try #require(line.size)
        #expect(size.width * size.height * 4 <= 2048)
        // No smaller than it must be, and of the same shape.
        #expect(size.width >= 20 && abs(size.width * 2 - size.height * 3) <= 3)
        let name = try #require(try tool.files(in: "out").first)
        #expect(try CoderRegistry.shared.probe(try tool.data("out/\(name)")).size == size)
    }

    @Test func aByteLimitThatIsNotReachedChangesNothing() async throws {
        let tool = try Tool()
        _ = try await tool.load(fixture(Self.source), "--max-bytes", "6144", "-o", tool.path("a.png"))
        #expect(try tool.data("a.png") == TestFiles.data(Self.source))
    }

    @Test func anImageThatNothingChangesIsCopiedUnlessItIsReencoded() async throws {
        let tool = try Tool()
        let bytes = try TestFiles.data(Self.source)
        _ = try await tool.load(fixture(Self.source), "-o", tool.path("a.png"))
        #expect(try tool.data("a.png") == bytes)
        _ = try await tool.load(fixture(Self.source), "-o", tool.path("b.png"), "--reencode")
        let encoded = try tool.data("b.png")
        #expect(encoded != bytes)
        let (image, original) = (try decoded(encoded), try decoded(bytes))
        for y in 0..<32 {
            for x in 0..<48 { #expect(image.bytes(x: x, y: y) == original.bytes(x: x, y: y)) }
        }
    }

    @Test func aLimitOfPixelsRefusesAnImage() async throws {
        let tool = try Tool()
        let child = try await tool.run(["load", fixture(Self.source), "--max-pixels", "1535"])
        #expect(child.status != 0)
        #expect(child.errors.contains("1536"))
        #expect(try await tool.load(fixture(Self.source), "--max-pixels", "1536").load().size == PixelSize(48, 32))
    }
}
