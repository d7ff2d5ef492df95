import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Unusual keys, sizes and times.
@Suite(.timeLimit(.minutes(5)))
struct OddCacheInputTests {
    private let composed = "caf\u{E9}"
    private let decomposed = "cafe\u{301}"

    /// Swift takes the two texts for equal; a server, and a file system, does not.
    @Test func textsOfOtherBytesAreOtherKeys() async throws {
        let cache = ImageCache(disk: nil)
        let image = try Image(data: TestFiles.data("png/rgb8.png"))
        try await cache.store(image, for: composed)
        #expect(cache.image(inMemoryFor: composed) != nil)
        #expect(cache.image(inMemoryFor: decomposed) == nil)
        #expect(ImageKey(source: composed) != ImageKey(source: decomposed))
    }

    @Test func loadsOfTextsOfOtherBytesAreNotShared() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let urls = (
            try fixture.serve("png/rgb8.png", gate: gate), try fixture.serve("jpeg/baseline-420.jpg", gate: gate)
        )
        var (first, second) = (ImageRequest(urls.0), ImageRequest(urls.1))
        (first.cacheKey, second.cacheKey) = (composed, decomposed)
        let tasks = (fixture.pipeline.task(for: first), fixture.pipeline.task(for: second))
        try await fixture.transport.waitForRequests(1)
        gate.open()
        #expect(try await tasks.0.response.image.info.format == .png)
        #expect(try await tasks.1.response.image.info.format == .jpeg)
    }

    @Test(arguments: ["", "\0", "a\0b", "/", "..", "\u{FFFF}", String(repeating: "k", count: 1 << 20)])
    func anyTextIsAKey(text: String) async throws {
        for hashed in [true, false] {
            let folder = PipelineFixture.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let configuration = DiskCache.Configuration(usesHashedFileName: hashed, fileExtension: .fromKey)
            let cache = ImageCache(disk: DiskCache(folder: folder, configuration: configuration))
            let data = try TestFiles.data("png/rgb8.png")
            let image = try Image(data: data)
            try await cache.store(image, original: data, for: text)
            await cache.disk?.flush()
            cache.clearMemory()
            #expect(try await cache.image(for: text)?.hasSamePixels(as: image) == true)
            #expect(try await cache.image(for: text + "x") == nil)
            await cache.remove(text)
            #expect(await cache.diskCount == 0)
        }
    }

    @Test func aFilterLeavesTheFragmentOutOfTheURLsOfOtherHosts() throws {
        let cache = ImageCache(disk: nil, keyFilter: .s3())
        let url = URL(web: "http://images.test/a.png?x=1#part")
        #expect(cache.key(for: url).source == "http://images.test/a.png?x=1")
        let s3 = URL(web: "http://b.s3.amazonaws.com/a.png?X-Amz-Date=1&x=1#part")
        #expect(cache.key(for: s3).source == "http://b.s3.amazonaws.com/a.png?x=1")
    }

    @Test func aFileWithAKeyOfItsOwnIsKeptInMemory() async throws {
        let fixture = PipelineFixture()
        var request = ImageRequest(TestFiles.url("png/rgb8.png"))
        request.cacheKey = "mine"
        _ = try await fixture.pipeline.image(for: request)
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        #expect(fixture.pipeline.cache.image(inMemoryFor: "mine") != nil)
    }

    @Test(arguments: [0, -1, Int.min, Int.max])
    func noSizeIsTooOddForALookAtTheCaches(side: Int) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        _ = await fixture.diskEntries()
        let size = PixelSize(side, side)
        for mode in [ResizeMode.fit, .fill, .stretch] {
            var request = ImageRequest(url, cachePolicy: .synchronousDisk)
            request.decode.target = TargetSize(size, mode: mode, upscale: true)
            request.cachePolicy.acceptsLarger = true
            _ = fixture.pipeline.cache.image(inMemoryFor: request)
            _ = try? await fixture.pipeline.cache.image(for: request)
            _ = try? await fixture.pipeline.response(for: request)
            request.decode.target = nil
            request.processors = [.resize(to: size, mode: mode, upscale: true)]
            _ = try? await fixture.pipeline.cache.image(for: request)
            await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.response(for: request) }
        }
    }

    @Test(arguments: ["jpeg/orientation-6.jpg", "jpeg/orientation-8.jpg"])
    func aTurnedImageThatIsLargeEnoughServes(file: String) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve(file)
        let full = try await fixture.pipeline.image(for: url)
        for box in [PixelSize(full.width, full.height), PixelSize(full.width / 2, full.height * 2)] {
            var request = ImageRequest(url)
            request.decode.target = TargetSize(box, mode: .fit)
            let exact = try await fixture.pipeline.image(for: request)
            fixture.pipeline.cache.clearMemory()
            _ = try await fixture.pipeline.image(for: url)
            request.cachePolicy.acceptsLarger = true
            let found = try #require(fixture.pipeline.cache.image(inMemoryFor: request))
            #expect(found.width >= exact.width && found.height >= exact.height)
        }
    }

    @Test func preloadedFramesComeFromTheDiskPreloaded() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("animation/keep.gif")
        var request = ImageRequest(url, cachePolicy: .storeProcessed)
        request.decode.target = TargetSize(PixelSize(12, 12))
        request.decode.preloadAllFrames = true
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        let found = try await fixture.pipeline.response(for: request)
        #expect(found.origin == .disk)
        let animation = try #require(found.image.animation)
        #expect(animation.cost >= animation.frameCount * animation.size.width * animation.size.height * 4)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.max), .seconds(Int64.min)])
    func theEndTakesAnyTime(time: Duration) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        let isDone = await fixture.pipeline.shutdown(within: time)
        if time > .seconds(1) { #expect(isDone) }
        _ = await fixture.pipeline.cache.shutdown(within: time)
    }
}
