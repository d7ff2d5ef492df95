import Dispatch
import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Replaced or removed entries do not come back, and stored ones keep their HTTP metadata.
@Suite(.timeLimit(.minutes(5)))
struct StaleImageTests {
    private let flip: [any ImageProcessor] = [.flip(.vertical)]

    /// A serializer that stops in its first encoding until a test lets it continue.
    private struct StoppingSerializer: CacheSerializer {
        let hasCome = ScriptedTransportGate()
        let mayGo = DispatchSemaphore(value: 0)

        func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
            hasCome.open()
            // On a processor thread of Halcyon's own, of which a single processor has one.
            ThreadPool.blocking { mayGo.wait() }
            return try DefaultCacheSerializer().data(for: input, context: context)
        }
    }

    @Test func aReloadReplacesTheFinishedImageOnDisk() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("changing")
        fixture.transport.answer(
            url, with: .data(try TestFiles.data("png/rgb8.png")), .data(try TestFiles.data("jpeg/gray.jpg")))
        _ = try await fixture.pipeline.image(for: ImageRequest(url, processors: flip, cachePolicy: .storeProcessed))
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let new = try await fixture.pipeline.image(for: ImageRequest(url, processors: flip, cachePolicy: .reload))
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        let found = try await fixture.pipeline.response(for: ImageRequest(url, processors: flip))
        #expect(found.origin == .disk)
        #expect(found.image.hasSamePixels(as: new))
    }

    @Test func aFinishedImageOfAKeptOriginalGoesStaleAsThatDoes() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=10"])
        var policy = CachePolicy.keepOriginal
        policy.writes.insert(.diskProcessed)
        _ = try await fixture.pipeline.image(for: ImageRequest(url, cachePolicy: policy))
        let flipped = ImageRequest(url, processors: flip, cachePolicy: policy)
        _ = try await fixture.pipeline.image(
            for: ImageRequest(url, processors: [.flip(.horizontal)], cachePolicy: policy))
        #expect(try await fixture.pipeline.response(for: flipped).origin == .memory)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: flipped).origin == .disk)
        clock.advance(by: .seconds(11))
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: flipped).origin != .disk)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(arguments: [false, true])
    func entryRemovedDuringEncodeIsNotStored(all: Bool) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let serializer = StoppingSerializer()
        var request = ImageRequest(url, processors: flip, cachePolicy: .storeProcessed)
        request.serializer = serializer
        _ = try await fixture.pipeline.image(for: request)
        try await serializer.hasCome.wait()
        let cache = fixture.pipeline.cache
        if all { await cache.clearDisk() } else { await cache.remove(request) }
        cache.clearMemory()
        serializer.mayGo.signal()
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await cache.cachedLevel(for: request) == nil)
    }

    @Test func theEndOfTheCacheWaitsForWhatIsEncoded() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let serializer = StoppingSerializer()
        var request = ImageRequest(url, processors: flip, cachePolicy: .storeProcessed)
        request.serializer = serializer
        _ = try await fixture.pipeline.image(for: request)
        try await serializer.hasCome.wait()
        let cache = fixture.pipeline.cache
        async let isDone = cache.shutdown(within: .seconds(300))
        serializer.mayGo.signal()
        #expect(await isDone)
        #expect(await cache.disk?.count() == 2)
    }

    /// Newer bytes for which there is no room are not kept; the older ones must not be either.
    @Test func unstagedReloadRemovesOlderEntry() async throws {
        let files = FaultInjectingFileSystem()
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder) {
            $0.cache = ImageCache(
                disk: DiskCache(folder: folder, configuration: .init(stagingLimit: 1), fileSystem: files))
        }
        let other = try fixture.serve("png/rgba8.png")
        let url = PipelineFixture.url("changing")
        fixture.transport.answer(
            url, with: .data(try TestFiles.data("png/rgb8.png")), .data(try TestFiles.data("jpeg/gray.jpg")))
        files.hold(.rename)
        _ = try await fixture.pipeline.image(for: other)
        try await files.waitForHeld(.rename)
        _ = try await fixture.pipeline.image(for: url)
        _ = try await fixture.pipeline.image(for: ImageRequest(url, cachePolicy: .reload))
        files.release(.rename)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        let found = try? await fixture.pipeline.response(for: ImageRequest(url, cachePolicy: .onlyIfCached))
        #expect(found.map { $0.image.info.format } != .png)
    }
}
