import Foundation
import Halcyon
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CacheKeyTests {
    private func signed(_ signature: String, _ rest: String = "") -> URL {
        URL(web: "http://s3.amazonaws.com/bucket/a.png?\(rest)X-Amz-Signature=\(signature)&X-Amz-Date=\(signature)")
    }

    @Test func aFilterMakesSignedURLsOne() async throws {
        let fixture = PipelineFixture { $0.cache = ImageCache(disk: $0.cache.disk, keyFilter: .s3()) }
        let data = try TestFiles.data("png/rgb8.png")
        fixture.transport.answer(signed("1"), with: .data(data))
        fixture.transport.answer(signed("2", "size=2&"), with: .data(try TestFiles.data("png/rgba8.png")))
        _ = try await fixture.pipeline.image(for: signed("1"))
        #expect(try await fixture.pipeline.response(for: ImageRequest(signed("3"))).origin == .memory)
        _ = await fixture.diskEntries()
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: ImageRequest(signed("4"))).origin == .disk)
        #expect(await fixture.pipeline.cache.cachedLevel(for: signed("5")) == .memory)
        // A parameter that is not stripped still counts.
        #expect(try await fixture.pipeline.response(for: ImageRequest(signed("2", "size=2&"))).origin == .network)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(arguments: [
        ("https://h.test/a?b=1&token=x&c=2", "https://h.test/a?b=1&c=2"),
        ("https://h.test/a?token=x", "https://h.test/a"),
        ("https://h.test/a?TOKEN=x#part", "https://h.test/a"),
        ("https://h.test/a?to%6Ben=x&b", "https://h.test/a?b"),
        ("https://h.test/a?b=token", "https://h.test/a?b=token"),
        ("https://h.test/token=a", "https://h.test/token=a"),
        ("https://h.test/a?&&b=%20", "https://h.test/a?&&b=%20"),
        ("https://other.test/a?token=x", "https://other.test/a?token=x"),
        ("https://sub.h.test/a?token=x", "https://sub.h.test/a"),
        ("https://nth.test/a?token=x", "https://nth.test/a?token=x"),
    ])
    func itemsAreStrippedByName(text: String, expected: String) throws {
        let filter = CacheKeyFilter.strippingQuery(["token"], hosts: ["h.test"])
        #expect(filter.key(for: try #require(URL(string: text))) == expected)
    }

    @Test func aKeyOfItsOwnReplacesTheURL() async throws {
        let fixture = PipelineFixture()
        let (first, second) = (try fixture.serve("png/rgb8.png"), PipelineFixture.url("nowhere"))
        var request = ImageRequest(first)
        request.cacheKey = "avatar of user 7"
        _ = try await fixture.pipeline.image(for: request)
        var other = ImageRequest(second)
        other.cacheKey = "avatar of user 7"
        #expect(try await fixture.pipeline.response(for: other).origin == .memory)
        #expect(await fixture.pipeline.cache.cachedLevel(for: "avatar of user 7") == .memory)
        #expect(await fixture.pipeline.cache.cachedLevel(for: first) == nil)
    }

    @Test func aModifierChangesEachRequest() async throws {
        let fixture = PipelineFixture {
            $0.requestModifier = { request in
                var request = request
                request.processors.append(.resize(to: PixelSize(6, 6)))
                return request
            }
        }
        let url = try fixture.serve("png/rgb8.png")
        #expect(try await fixture.pipeline.image(for: url).width <= 6)
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .memory)
        #expect(
            await fixture.pipeline.cache.cachedLevel(
                for: ImageRequest(url, processors: [.resize(to: PixelSize(6, 6))])) == .memory)
    }

    @Test func targetAndOriginalMayBeTwoCaches() async throws {
        let folders = [TemporaryFolder(), TemporaryFolder()]
        let caches = folders.map { ImageCache(disk: DiskCache(folder: $0.url)) }
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url, processors: [.flip(.vertical)], cachePolicy: .storeProcessed)
        (request.targetCache, request.originalCache) = (caches[0], caches[1])
        _ = try await fixture.pipeline.image(for: request)
        await fixture.pipeline.shutdown(within: .seconds(300))
        for cache in caches { await cache.disk?.flush() }
        #expect(await fixture.diskEntries() == 0)
        #expect(await fixture.pipeline.cache.cachedLevel(for: request) == nil)
        #expect(await caches[0].cachedLevel(for: request) == .memory)
        #expect(await caches[0].storedOriginal(for: url) == nil)
        #expect(await caches[1].storedOriginal(for: url) != nil)
        #expect(await caches[0].diskCount == 1)
        // The finished one is found in the one, the source in the other.
        caches[0].clearMemory()
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
        await caches[0].clearDisk()
        caches[0].clearMemory()
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
        #expect(fixture.transport.requestCount == 1)
        // Without a cache of its own a request uses the pipeline's.
        request.originalCache = nil
        request.targetCache = nil
        #expect(try await fixture.pipeline.response(for: request).origin == .network)
        withExtendedLifetime(folders) {}
    }

    @Test func aPipelineMayKeepOriginalsApart() async throws {
        let folder = TemporaryFolder()
        let originals = ImageCache(disk: DiskCache(folder: folder.url))
        let fixture = PipelineFixture { $0.originalCache = originals }
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await fixture.diskEntries() == 0)
        #expect(await originals.diskCount == 1)
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .disk)
        withExtendedLifetime(folder) {}
    }

    /// They name files on users' disks: a change to one raises its version.
    @Test func diskKeysAreFixed() {
        func expected(_ type: String, _ write: (inout KeyEncoder) -> Void = { _ in }) -> CacheKey {
            var encoder = KeyEncoder()
            encoder.encode(type: type, version: 2)
            encoder.encode("http://one.test/a")
            write(&encoder)
            return CacheKey(encoder)
        }
        let decode = DecodeOptions(target: TargetSize(PixelSize(3, 4)))
        let key = ImageKey(source: "http://one.test/a", decode: decode)
        #expect(key.originalEntryKey == expected("halcyon.original"))
        let processed = expected("halcyon.processed") {
            decode.encode(into: &$0)
            $0.encode(0)
        }
        #expect(key.processedEntryKey == processed)
    }
}
