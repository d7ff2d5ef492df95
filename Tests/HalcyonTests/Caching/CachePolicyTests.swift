import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@Suite struct CachePolicyTests {
    private func request(_ url: URL, _ policy: CachePolicy, _ processors: [any ImageProcessor] = []) -> ImageRequest {
        ImageRequest(url, processors: processors, cachePolicy: policy)
    }

    @Test func reloadAsksTheNetworkAndReplacesWhatWasStored() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("changing")
        fixture.transport.answer(
            url, with: .data(try TestFiles.data("png/rgb8.png")), .data(try TestFiles.data("jpeg/gray.jpg")))
        #expect(try await fixture.pipeline.image(for: url).info.format == .png)
        let reloaded = try await fixture.pipeline.response(for: request(url, .reload))
        #expect(reloaded.origin == .network)
        #expect(reloaded.image.info.format == .jpeg)
        #expect(fixture.transport.requests.last?.headers["Cache-Control"] == "no-cache")
        let after = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(after.origin == .memory)
        #expect(after.image.info.format == .jpeg)
        fixture.pipeline.configuration.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).image.info.format == .jpeg)
    }

    @Test func onlyIfCachedNeverAsksTheNetwork() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=0"])
        await #expect {
            try await fixture.pipeline.response(for: request(url, .onlyIfCached))
        } throws: {
            ($0 as? ImagePipelineError)?.code == "notInCache"
        }
        #expect(fixture.transport.requestCount == 0)
        _ = try await fixture.pipeline.image(for: url)
        fixture.pipeline.configuration.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: request(url, .onlyIfCached)).origin == .disk)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func noStoreLeavesBothCachesAsTheyWere() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: request(url, .noStore))
        #expect(await fixture.diskEntries() == 0)
        #expect(await fixture.pipeline.configuration.cache.cachedLevel(for: ImageRequest(url)) == nil)
    }

    @Test func memoryOnlyLeavesTheDiskAlone() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: request(url, .memoryOnly))
        #expect(await fixture.diskEntries() == 0)
        #expect(await fixture.pipeline.configuration.cache.cachedLevel(for: ImageRequest(url)) == .memory)
    }

    @Test(arguments: ["jpeg/orientation-6.jpg", "gainmap/iso.jpg"])
    func theFinishedImageIsKeptOnDiskWhereAskedForAndComesBackPixelForPixel(_ file: String) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve(file)
        var policy = CachePolicy.default
        policy.writes.insert(.diskProcessed)
        let runs = Counter()
        let request = request(url, policy, [.resize(to: PixelSize(20, 20)), CountingProcessor("a", runs: runs)])
        let first = try await fixture.pipeline.response(for: request)
        // The encoder works behind; both entries are there once it has handed its own over.
        while await fixture.diskEntries() < 2 { await Task.yield() }
        fixture.pipeline.configuration.cache.clearMemory()
        let second = try await fixture.pipeline.response(for: request)
        #expect(second.origin == .disk)
        #expect(runs.value == 1)
        #expect(second.image.hasSamePixels(as: first.image))
        #expect(second.image.info == first.image.info)
    }

    @Test func theEndOfTheProgramWaitsForFinishedImages() async throws {
        let fixture = PipelineFixture()
        var policy = CachePolicy.default
        policy.writes.insert(.diskProcessed)
        let url = try fixture.serve("png/rgb8.png")
        for side in 1...8 {
            _ = try await fixture.pipeline.image(for: request(url, policy, [.resize(to: PixelSize(side, side))]))
        }
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await fixture.pipeline.cache.disk?.count() == 9)
    }

    @Test func anUnprocessedImageIsKeptOnDiskOnce() async throws {
        let fixture = PipelineFixture()
        var policy = CachePolicy.default
        policy.writes.insert(.diskProcessed)
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: request(url, policy))
        await fixture.pipeline.shutdown(within: .seconds(300))
        #expect(await fixture.pipeline.cache.disk?.count() == 1)
        #expect(fixture.pipeline.cache.disk?.statistics.writes == 1)
    }

    @Test func anImageFromTheDiskIsNotWrittenAgain() async throws {
        let fixture = PipelineFixture()
        let request = request(try fixture.serve("png/rgb8.png"), .storeProcessed, [.flip(.horizontal)])
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let disk = try #require(fixture.pipeline.cache.disk)
        #expect(disk.statistics.writes == 2)
        for _ in 0..<3 {
            fixture.pipeline.cache.clearMemory()
            #expect(try await fixture.pipeline.response(for: request).origin == .disk)
        }
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(disk.statistics.writes == 2)
    }

    @Test(arguments: [MemoryCacheConfiguration(countLimit: 0), MemoryCacheConfiguration(costLimit: 0)])
    func aCacheMayHaveNoMemory(memory: MemoryCacheConfiguration) async throws {
        let fixture = PipelineFixture {
            $0.cache = ImageCache(memory: memory, disk: $0.cache.disk, memoryPressure: nil)
        }
        let url = try fixture.serve("png/rgb8.png")
        let image = try await fixture.pipeline.image(for: url)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        // Not even while the image is in use.
        #expect(fixture.pipeline.cache.image(inMemoryFor: url) == nil)
        #expect(fixture.pipeline.cache.memoryStatistics.count == 0)
        #expect(fixture.pipeline.cache.memoryStatistics.weakCount == 0)
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .disk)
        withExtendedLifetime(image) {}
    }

    @Test func eachReloadAsksTheServer() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        for count in 1...5 {
            #expect(try await fixture.pipeline.response(for: request(url, .reload)).origin == .network)
            #expect(fixture.transport.requestCount == count)
        }
    }

    @Test func removingAnImageForgetsItEverywhere() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        await fixture.pipeline.configuration.cache.remove(ImageRequest(url))
        #expect(await fixture.pipeline.configuration.cache.cachedLevel(for: ImageRequest(url)) == nil)
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .network)
    }

    @Test func theTimeToLiveOfARequestDecidesHowLongTheDiskKeepsIt() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = try fixture.serve("png/rgb8.png")
        var policy = CachePolicy.default
        policy.diskExpiration = .seconds(100)
        _ = try await fixture.pipeline.image(for: request(url, policy))
        _ = await fixture.diskEntries()
        fixture.pipeline.configuration.cache.clearMemory()
        clock.advance(by: .seconds(101))
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .network)
    }

    @Test func bytesOnDiskThatDoNotDecodeAreRemovedAndAskedForOnceMore() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let disk = try #require(fixture.pipeline.configuration.cache.disk)
        _ = try await fixture.pipeline.image(for: url)
        await disk.flush()
        let key = try #require(await disk.entries().first?.key)
        try await disk.store(Data("no image at all".utf8), for: key)
        fixture.pipeline.configuration.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .network)
        #expect(fixture.transport.requestCount == 2)
        fixture.pipeline.configuration.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .disk)
    }
}
