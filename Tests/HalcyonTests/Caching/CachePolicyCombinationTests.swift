import Foundation
import Halcyon
import HalcyonProcessing
import HalcyonTesting
import TestSupport
import Testing

/// Policies are combined: each contributes what it changes of the default.
@Suite struct CachePolicyCombinationTests {
    static let presets: [CachePolicy] = [
        .default, .reload, .revalidate, .showStaleAndRevalidate, .onlyIfCached, .noStore, .memoryOnly, .memoryOrReload,
        .storeProcessed, .keepOriginal, .waitForStore, .synchronousDisk,
    ]

    @Test(arguments: presets) func theDefaultAddsNothing(_ preset: CachePolicy) {
        #expect(preset.combined(with: .default) == preset)
        #expect(CachePolicy.default.combined(with: preset) == preset)
        #expect(preset.combined(with: preset) == preset)
    }

    @Test func theLevelsOfBothCount() {
        let both = CachePolicy.storeProcessed.combined(with: .keepOriginal)
        #expect(both.writes == [.memory, .memoryOriginal, .disk])
        #expect(both.reads == [.memory, .memoryOriginal, .disk])
        #expect(CachePolicy.keepOriginal.combined(with: .storeProcessed) == both)
        // A level that one of them leaves out is left out.
        let reload = CachePolicy.reload.combined(with: .storeProcessed)
        #expect(reload.reads == [] && reload.writes == [.memory, .disk])
        #expect(CachePolicy.memoryOnly.combined(with: .storeProcessed).writes == [.memory, .diskProcessed])
        #expect(CachePolicy.noStore.combined(with: .memoryOrReload) == CachePolicy(reads: .memory, writes: []))
    }

    @Test func theOtherOptionsOfBothCount() {
        let both = CachePolicy.showStaleAndRevalidate.combined(with: .waitForStore).combined(with: .synchronousDisk)
        #expect(both.freshness == .revalidate && both.showsStale && both.waitsForStore && both.readsDiskSynchronously)
        // The last one wins.
        #expect(CachePolicy.revalidate.combined(with: .onlyIfCached).freshness == .ignore)
        #expect(CachePolicy.onlyIfCached.combined(with: .revalidate).freshness == .revalidate)
        var timed = CachePolicy(memoryExpiration: .seconds(1), diskExpiration: .days(2))
        (timed.memoryExtension, timed.diskExtension, timed.acceptsLarger) = (.none, .cacheTime, true)
        #expect(timed.combined(with: .default) == timed)
        #expect(CachePolicy.default.combined(with: timed) == timed)
    }

    @Test func aCombinationIsLoadedByBoth() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let policy = CachePolicy.waitForStore.combined(with: .storeProcessed)
        let request = ImageRequest(url, processors: [.flip(.vertical)], cachePolicy: policy)
        _ = try await fixture.pipeline.image(for: request)
        fixture.pipeline.cache.clearMemory()
        #expect(await fixture.pipeline.cache.cachedLevel(for: request) == .diskProcessed)
    }

    @Test func oneLevelOfTheDiskIsStoredToAndRemovedFromByItself() async throws {
        let fixture = PipelineFixture()
        let (cache, data) = (fixture.pipeline.cache, try TestFiles.data("png/rgb8.png"))
        let request = ImageRequest(URL(string: "http://images.test/a"), processors: [.flip(.vertical)])
        let image = try Image(data: data).processed(by: [FlipProcessor(.vertical)])
        try await cache.store(image, original: data, for: request, to: .diskOriginal)
        await cache.disk?.flush()
        #expect(await cache.cachedLevel(for: request) == .diskOriginal)
        try await cache.store(image, original: data, for: request, to: .diskProcessed)
        await cache.disk?.flush()
        #expect(await cache.cachedLevel(for: request) == .diskProcessed)
        await cache.remove(request, from: .diskProcessed)
        #expect(await cache.cachedLevel(for: request) == .diskOriginal)
        await cache.remove(request, from: .diskOriginal)
        #expect(await cache.cachedLevel(for: request) == nil)
    }

    @Test func theImageBeforeItsProcessorsIsRemovedWhereThatIsAskedFor() async throws {
        let fixture = PipelineFixture(disk: false)
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url, processors: [.flip(.vertical)], cachePolicy: .keepOriginal)
        _ = try await fixture.pipeline.image(for: request)
        await fixture.pipeline.cache.remove(request)
        #expect(fixture.pipeline.cache.image(inMemoryFor: request) == nil)
        #expect(fixture.pipeline.cache.image(inMemoryFor: url) != nil)
        await fixture.pipeline.cache.remove(request, from: .memoryOriginal)
        #expect(fixture.pipeline.cache.image(inMemoryFor: url) == nil)
    }
}
