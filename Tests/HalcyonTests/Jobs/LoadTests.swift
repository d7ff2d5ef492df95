import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// The way of a request: memory, disk, network, decode, process, store.
@Suite struct LoadTests {
    @Test func theFirstLoadComesOverTheNetworkAndTheSecondFromMemory() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        let first = try await fixture.pipeline.response(for: ImageRequest(url))
        let second = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(first.origin == .network)
        #expect(second.origin == .memory)
        #expect(first.image.size == PixelSize(48, 32))
        #expect(first.image.bitmap === second.image.bitmap)
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.decodes.value == 1)
    }

    @Test func withMemoryClearedTheImageComesFromDisk() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgba8.png")
        let first = try await fixture.pipeline.response(for: ImageRequest(url))
        fixture.pipeline.configuration.cache.clearMemory()
        let second = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(second.origin == .disk)
        #expect(fixture.transport.requestCount == 1)
        #expect(first.image.hasSamePixels(as: second.image))
    }

    @Test func anotherProcessFindsItOnDisk() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("webp/lossless.webp")
        _ = try await fixture.pipeline.image(for: url)
        await fixture.pipeline.shutdown()
        let other = PipelineFixture(folder: fixture.folder)
        let response = try await other.pipeline.response(for: ImageRequest(url))
        #expect(response.origin == .disk)
        #expect(other.transport.requestCount == 0)
    }

    @Test func processorsRunInOrderAndTheirResultIsWhatMemoryHolds() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let crop = ImageRequest(
            url, processors: [.crop(PixelRect(x: 0, y: 0, width: 10, height: 32)), .resize(to: PixelSize(5, 5))])
        let resize = ImageRequest(
            url, processors: [.resize(to: PixelSize(5, 5)), .crop(PixelRect(x: 0, y: 0, width: 10, height: 32))])
        #expect(try await fixture.pipeline.image(for: crop).size == PixelSize(2, 5))
        #expect(try await fixture.pipeline.image(for: resize).size == PixelSize(5, 3))
        #expect(try await fixture.pipeline.response(for: crop).origin == .memory)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func theOriginalOnDiskServesAnyProcessor() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("jpeg/progressive.jpg")
        _ = try await fixture.pipeline.image(for: ImageRequest(url, processors: [.resize(to: PixelSize(20, 20))]))
        let other = try await fixture.pipeline.response(for: ImageRequest(url, processors: [.flip(.vertical)]))
        #expect(other.origin == .disk)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aFirstResizeIsPartOfTheDecode() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("jpeg/baseline-444.jpg")
        let response = try await fixture.pipeline.response(
            for: ImageRequest(url, processors: [.resize(to: PixelSize(12, 8), mode: .stretch)]))
        #expect(response.image.size == PixelSize(12, 8))
        #expect(response.image.info.size == PixelSize(48, 32))
        #expect(response.metrics.process == nil)
        #expect(response.metrics.decode != nil)
    }

    /// The decode of a part, and the frames of an animation, are sharpened as separate steps would.
    @Test(arguments: ["jpeg/baseline-444.jpg", "gif/animated.gif"]) func aReductionInTheDecodeIsSharpened(
        file: String
    ) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve(file)
        func bitmaps(_ box: PixelSize, _ region: PixelRect?, _ processors: [any ImageProcessor]) async throws
            -> [[UInt8]]
        {
            let request = ImageRequest(url, processors: processors, decode: DecodeOptions(region: region))
            let image = try await fixture.pipeline.image(for: request)
            #expect(image.size == box)
            let second = try image.animation.map { try $0.frame(at: 1) }
            return [image.bitmap, second ?? image.bitmap].map { $0.withPixels { Array($0) } }
        }
        for (box, region) in [(PixelSize(6, 4), nil), (PixelSize(6, 4), PixelRect(x: 1, y: 1, width: 8, height: 8))] {
            let plain = try await bitmaps(box, region, [.resize(to: box, mode: .stretch)])
            let sharp = try await bitmaps(box, region, [.resize(to: box, mode: .stretch, sharpening: 0.5)])
            let steps: [any ImageProcessor] = [.resize(to: box, mode: .stretch), .sharpen(amount: 0.5, radius: 0.6)]
            #expect(try await bitmaps(box, region, steps) == sharp)
            #expect(plain != sharp)
        }
        // The part is no larger than the box.
        let (box, region) = (PixelSize(8, 8), PixelRect(x: 1, y: 1, width: 8, height: 8))
        let plain = try await bitmaps(box, region, [.resize(to: box, mode: .stretch)])
        #expect(try await bitmaps(box, region, [.resize(to: box, mode: .stretch, sharpening: 0.5)]) == plain)
    }

    @Test(arguments: ["file", "data URL", "data"]) func localSourcesNeedNoNetworkAndLeaveTheDiskAlone(
        kind: String
    ) async throws {
        let fixture = PipelineFixture()
        let data = try TestFiles.data("png/rgb8.png")
        let source: ImageSource =
            switch kind {
            case "file": ImageSource(TestFiles.url("png/rgb8.png"))
            case "data URL": ImageSource(string: "data:image/png;base64," + data.base64EncodedString())
            default: .data(data, key: "picture")
            }
        let first = try await fixture.pipeline.response(for: ImageRequest(source))
        #expect(first.origin == (kind == "file" ? .file : .data))
        #expect(try await fixture.pipeline.response(for: ImageRequest(source)).origin == .memory)
        #expect(await fixture.diskEntries() == 0)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func aFileThatChangedIsReadAnew() async throws {
        let fixture = PipelineFixture()
        let file = fixture.folder.appending(path: "changing")
        try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
        try TestFiles.data("png/rgb8.png").write(to: file)
        #expect(try await fixture.pipeline.image(for: file).info.format == .png)
        try TestFiles.data("jpeg/gray.jpg").write(to: file)
        #expect(try await fixture.pipeline.image(for: file).info.format == .jpeg)
    }

    @Test func aFileThatIsReplacedByOneOfTheSameSizeAndTimeIsReadAnew() async throws {
        let fixture = PipelineFixture()
        let folder = fixture.folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (file, other) = (folder.appending(path: "a"), folder.appending(path: "b"))
        let data = try TestFiles.data("png/rgb8.png")
        try data.write(to: file)
        // As many bytes, one of them another: no image any more.
        try (Data([0]) + data.dropFirst()).write(to: other)
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        for url in [file, other] {
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path())
        }
        _ = try await fixture.pipeline.image(for: file)
        #expect(rename(other.path(), file.path()) == 0)
        await #expect {
            try await fixture.pipeline.image(for: file)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "notAnImage"
        }
    }

    @Test func theResponseGivesTheEncodedBytesAlsoAfterAMemoryHit() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("gif/animated.gif")
        let bytes = try TestFiles.data("gif/animated.gif")
        let first = try await fixture.pipeline.response(for: ImageRequest(url))
        let second = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(try await first.data() == bytes)
        #expect(second.origin == .memory)
        #expect(try await second.data() == bytes)
        await fixture.pipeline.configuration.cache.clearDisk()
        await #expect { try await second.data() } throws: { ($0 as? ImagePipelineError)?.code == "notInCache" }
        #expect(try await fixture.pipeline.data(for: ImageRequest(url)) == bytes)
    }

    @Test func aMemoryHitIsThereInTheSameCall() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/gray8.png")
        let request = ImageRequest(url)
        #expect(fixture.pipeline.configuration.cache.image(inMemoryFor: request) == nil)
        _ = try await fixture.pipeline.image(for: request)
        #expect(fixture.pipeline.configuration.cache.image(inMemoryFor: request) != nil)
        #expect(fixture.pipeline.task(for: request).status == .finished)
    }

    @Test func theResponseSaysWhereItCameFromAndWhatItTook() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb16.png")
        let runs = Counter()
        let request = ImageRequest(url, processors: [CountingProcessor("a", runs: runs)])
        let response = try await fixture.pipeline.response(for: request)
        #expect(response.source == .remote(url))
        #expect(response.requestedSource == .remote(url))
        #expect(response.metrics.bytes == (try TestFiles.data("png/rgb16.png").count))
        #expect(response.metrics.total > .zero)
        #expect(response.metrics.process != nil)
        #expect(runs.value == 1)
        let transfer = try #require(response.metrics.transfer)
        #expect(transfer.bytesReceived == response.metrics.bytes)
        let again = try await fixture.pipeline.response(for: request)
        #expect(again.origin == .memory)
        #expect(again.metrics.transfer == nil)
    }
}

extension Image {
    func hasSamePixels(as other: Image) -> Bool {
        size == other.size
            && bitmap.withPixels { left in other.bitmap.withPixels { right in left.elementsEqual(right) } }
    }
}
