import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// The presets of `CachePolicy` beyond those of `CachePolicyTests`, and a policy's other settings beside the levels.
@Suite(.timeLimit(.minutes(5)))
struct CachePresetTests {
    private let flip: [any ImageProcessor] = [.flip(.vertical)]

    @Test func memoryOrReloadIgnoresTheDisk() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url, cachePolicy: .memoryOrReload)
        _ = try await fixture.pipeline.image(for: request)
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        #expect(await fixture.diskEntries() == 1)
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: request).origin == .network)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aKeptOriginalServesOtherProcessorsWithoutADecode() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let resized = ImageRequest(url, processors: [.resize(to: PixelSize(12, 12))], cachePolicy: .keepOriginal)
        _ = try await fixture.pipeline.image(for: resized)
        #expect(fixture.decodes.value == 1)
        let flipped = try await fixture.pipeline.response(
            for: ImageRequest(url, processors: flip, cachePolicy: .keepOriginal))
        #expect(flipped.origin == .memory)
        // The same as without it, and its bytes can still be had.
        let plain = try await fixture.pipeline.image(for: ImageRequest(url, processors: flip, cachePolicy: .noStore))
        #expect(flipped.image.hasSamePixels(as: plain))
        #expect(try await flipped.data() == TestFiles.data("png/rgb8.png"))
        #expect(fixture.decodes.value == 1)
        #expect(fixture.pipeline.cache.image(inMemoryFor: url)?.size == plain.size)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func theOriginalOnDiskServesOtherProcessorsWithoutTheNetwork() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: ImageRequest(url, processors: [.resize(to: PixelSize(12, 12))]))
        _ = await fixture.diskEntries()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url, processors: flip)).origin == .disk)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test(arguments: [false, true])
    func theLoadWaitsForItsStoreWhereItIsToldTo(processed: Bool) async throws {
        let files = FaultInjectingFileSystem()
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder) {
            $0.cache = ImageCache(disk: DiskCache(folder: folder, fileSystem: files))
        }
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url, processors: processed ? flip : [], cachePolicy: .waitForStore)
        if processed { request.cachePolicy.writes.insert(.diskProcessed) }
        files.hold(.rename)
        let task = fixture.pipeline.task(for: request)
        try await files.waitForHeld(.rename)
        guard case .running = task.status else {
            Issue.record("it did not wait")
            return files.release(.rename)
        }

        files.release(.rename)
        _ = try await task.response
        let disk = try #require(fixture.pipeline.cache.disk)
        #expect(disk.statistics.stagedBytes == 0)
        #expect(await disk.count() == (processed ? 2 : 1))
    }

    @Test func aStoreThatFailsDoesNotFailTheLoadThatWaitsForIt() async throws {
        let files = FaultInjectingFileSystem()
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder) {
            $0.cache = ImageCache(disk: DiskCache(folder: folder, fileSystem: files))
        }
        files.failAlways(.write, with: ENOSPC)
        let url = try fixture.serve("png/rgb8.png")
        #expect(
            try await fixture.pipeline.response(for: ImageRequest(url, cachePolicy: .waitForStore)).origin == .network)
        #expect(fixture.pipeline.cache.disk?.statistics.failedWrites == 1)
    }

    @Test func theDiskAnswersAtOnceWhereItIsToldTo() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let plain = try await fixture.pipeline.image(
            for: ImageRequest(url, processors: flip, cachePolicy: .storeProcessed))
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        for (processors, policy) in [(flip, CachePolicy.synchronousDisk), ([], .synchronousDisk)] {
            fixture.pipeline.cache.clearMemory()
            let request = ImageRequest(url, processors: processors, cachePolicy: policy)
            let task = fixture.pipeline.task(for: request)
            // Without waiting for anything.
            #expect(task.status == .finished)
            let response = try await task.response
            #expect(response.origin == .disk)
            if !processors.isEmpty { #expect(response.image.hasSamePixels(as: plain)) }
            #expect(fixture.pipeline.task(for: request).status == .finished)
            #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aSynchronousLookThatFindsNothingGoodGoesOnAsEver() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=10"])
        let request = ImageRequest(url, cachePolicy: .synchronousDisk)
        #expect(try await fixture.pipeline.response(for: request).origin == .network)
        _ = await fixture.diskEntries()
        fixture.pipeline.cache.clearMemory()
        clock.advance(by: .seconds(11))
        #expect(try await fixture.pipeline.response(for: request).origin != .disk)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func memoryKeepsAnImageForItsOwnTime() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = try fixture.serve("png/rgb8.png")
        var policy = CachePolicy.default
        policy.memoryExpiration = .seconds(10)
        policy.memoryExtension = .none
        let request = ImageRequest(url, cachePolicy: policy)
        _ = try await fixture.pipeline.image(for: request)
        clock.advance(by: .seconds(9))
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        clock.advance(by: .seconds(2))
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
    }

    @Test func loadsWithOtherPoliciesShareTheTransferAndEachIsStoredAsItSays() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let careless = fixture.pipeline.task(for: ImageRequest(url, cachePolicy: CachePolicy(writes: .diskOriginal)))
        let usual = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(1)
        gate.open()
        _ = try await careless.response
        _ = try await usual.response
        #expect(fixture.transport.requestCount == 1)
        #expect(await fixture.diskEntries() == 1)
        #expect(await fixture.pipeline.cache.cachedLevel(for: url) == .memory)
    }
}
