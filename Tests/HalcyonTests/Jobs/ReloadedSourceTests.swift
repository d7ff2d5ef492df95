import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// A reload that ends while the former bytes or image are still in use.
@Suite(.timeLimit(.minutes(5)))
struct ReloadedSourceTests {
    private let url = PipelineFixture.url("changing.png")
    private let decoder = HeldDecoder(holding: .decode)

    private func image(_ color: [UInt8]) throws -> Data {
        try Image(width: 4, height: 4, pixels: (0..<16).flatMap { _ in color }).data(as: .png)
    }

    private func color(_ image: Image) -> [UInt8] { image.bitmap.withPixels { Array($0.prefix(4)) } }

    private static let (green, red): ([UInt8], [UInt8]) = ([0, 255, 0, 255], [0, 0, 255, 255])

    /// The first load is held in its decode, and the same URL is another picture from then on.
    private func held(_ request: ImageRequest, in fixture: PipelineFixture) async throws -> ImageTask {
        fixture.transport.answer(url, with: .data(try image(Self.green)))
        let task = fixture.pipeline.task(for: request)
        try await decoder.hasCome.wait()
        fixture.transport.answer(url, with: .data(try image(Self.red)))
        return task
    }

    /// Neither the bytes nor the decode of the first load are shared from then on, whether it is cancelled or not.
    @Test(arguments: [true, false])
    func decodeOfReplacedBytesIsNotShared(isCancelled: Bool) async throws {
        let fixture = PipelineFixture { [decoder] in $0.coders.add(decoder) }
        // A URL without an entry in memory.
        let request = ImageRequest(url, cachePolicy: CachePolicy(writes: .diskOriginal))
        let first = try await held(request, in: fixture)
        #expect(color(try await fixture.pipeline.image(for: ImageRequest(url, cachePolicy: .reload))) == Self.red)
        if isCancelled { first.cancel() }
        var second = request
        second.cachePolicy.reads.remove(.memory)
        #expect(color(try await fixture.pipeline.image(for: second)) == Self.red)
        decoder.release()
        if !isCancelled { #expect(color(try await first.response.image) == Self.green) }
        #expect(fixture.transport.requestCount == 2)
    }

    /// The result of the first load is for its waiters alone, and in no cache.
    @Test(arguments: [CachePolicy.default, .storeProcessed, .keepOriginal])
    func decodeOfOlderBytesIsNotCached(policy: CachePolicy) async throws {
        let fixture = PipelineFixture { [decoder] in $0.coders.add(decoder) }
        let request = ImageRequest(url, processors: [.flip(.vertical)], cachePolicy: policy)
        let first = try await held(request, in: fixture)
        var reload = request
        reload.cachePolicy.reads = []
        #expect(color(try await fixture.pipeline.image(for: reload)) == Self.red)
        decoder.release()
        #expect(color(try await first.response.image) == Self.green)
        #expect(color(try await fixture.pipeline.image(for: request)) == Self.red)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        #expect(color(try await fixture.pipeline.image(for: request)) == Self.red)
        #expect(fixture.transport.requestCount == 2)
    }

    /// The disk's bytes are older than an answer that comes while they are decoded.
    @Test func diskBytesDoNotReplaceNewerReload() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let former = PipelineFixture(folder: folder)
        former.transport.answer(url, with: .data(try image(Self.green)))
        _ = try await former.pipeline.image(for: url)
        #expect(await former.pipeline.shutdown(within: .seconds(300)))
        let fixture = PipelineFixture(folder: folder) { [decoder] in $0.coders.add(decoder) }
        let first = try await held(ImageRequest(url), in: fixture)
        #expect(color(try await fixture.pipeline.image(for: ImageRequest(url, cachePolicy: .reload))) == Self.red)
        decoder.release()
        #expect(color(try await first.response.image) == Self.green)
        #expect(color(try await fixture.pipeline.image(for: url)) == Self.red)
        withExtendedLifetime(former) {}
    }

    /// An entry that a program removes does not come back with a load that began before.
    @Test func loadBegunBeforeRemovalIsNotCached() async throws {
        let fixture = PipelineFixture { [decoder] in $0.coders.add(decoder) }
        let first = try await held(ImageRequest(url), in: fixture)
        await fixture.pipeline.cache.remove(url)
        decoder.release()
        #expect(color(try await first.response.image) == Self.green)
        #expect(await fixture.pipeline.cache.cachedLevel(for: url) == nil)
        #expect(color(try await fixture.pipeline.image(for: url)) == Self.red)
        #expect(await fixture.pipeline.cache.cachedLevel(for: url) == .memory)
    }

    /// A load that began after the reload joins nothing of before, and what is newer is kept.
    @Test func loadBegunAfterReloadIsCached() async throws {
        let fixture = PipelineFixture { [decoder] in $0.coders.add(decoder) }
        let request = ImageRequest(url, processors: [.flip(.vertical)])
        let first = try await held(request, in: fixture)
        #expect(color(try await fixture.pipeline.image(for: ImageRequest(url, cachePolicy: .reload))) == Self.red)
        // Made of the reload's bytes, while the first is still under way.
        #expect(color(try await fixture.pipeline.image(for: request)) == Self.red)
        decoder.release()
        #expect(color(try await first.response.image) == Self.green)
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        #expect(color(try await fixture.pipeline.image(for: request)) == Self.red)
        #expect(fixture.transport.requestCount == 2)
    }
}
