import Foundation
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// The events of look-ups, and the share of the decode budget that an encoding takes.
@Suite(.timeLimit(.minutes(5)))
struct LookUpTests {
    private func places(_ stream: AsyncStream<PipelineEvent>) async -> [String] {
        var all: [String] = []
        for await event in stream {
            switch event.kind {
            case .started: all.append("started")
            case .cacheHit(let place, _): all.append("hit \(place.rawValue)")
            case .cacheMissed(let miss): all.append("miss \(miss.level.rawValue) \(miss.reason.rawValue)")
            case .decoded: all.append("decoded")
            case .stored(let place): all.append("stored \(place.rawValue)")
            case .ended(.success(let origin, _)): return all + ["ended \(origin.rawValue)"]
            case .ended: return all + ["ended"]
            default: all.append("other")
            }
        }
        return all
    }

    @Test func varyMismatchIsReportedForBothLevels() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Vary": "X-Kind"])
        _ = try await fixture.pipeline.image(for: url)
        _ = await fixture.diskEntries()
        var other = ImageRequest(url)
        other.network.headers.set("X-Kind", "b")
        let misses = try await fixture.pipeline.response(for: other).metrics.misses
        #expect(misses == [CacheMiss(.memory, .varyMismatch), CacheMiss(.diskOriginal, .varyMismatch)])
        #expect(fixture.transport.requestCount == 2)
    }

    /// In place of its own or made of the source's bytes.
    @Test(arguments: [CachePolicy.default, .storeProcessed])
    func aHitOnTheCallersThreadIsToldWhole(stored: CachePolicy) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url, processors: [.flip(.vertical)], cachePolicy: stored)
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        request.cachePolicy.readsDiskSynchronously = true
        let stream = fixture.pipeline.events
        let task = fixture.pipeline.task(for: request)
        #expect(task.status == .finished)
        let metrics = try await task.response.metrics
        #expect(metrics.lookup > .zero)
        #expect(metrics.decode != nil)
        #expect(metrics.total >= metrics.lookup)
        let isFinished = stored.writes.contains(.diskProcessed)
        #expect((metrics.process != nil) == !isFinished)
        let found = isFinished ? ["hit diskProcessed"] : ["miss diskProcessed notFound", "hit diskOriginal"]
        #expect(
            await places(stream)
                == ["started", "miss memory notFound"] + found + ["decoded", "stored memory", "ended disk"])
    }

    @Test func memoryCountsAsALookUp() async throws {
        let fixture = PipelineFixture(disk: false)
        let url = try fixture.serve("png/rgb8.png")
        // No disk to look at.
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).metrics.lookup > .zero)
        let hit = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(hit.origin == .memory)
        #expect(hit.metrics.lookup > .zero)
        let encoded = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(encoded.metrics.lookup > .zero)
    }

    @Test func aLoadIsOneMissInMemory() async throws {
        let fixture = PipelineFixture()
        let (pipeline, cache) = (fixture.pipeline, fixture.pipeline.cache)
        let url = try fixture.serve("png/rgb8.png")
        func counts() -> [Int] { [cache.memoryStatistics.misses, cache.memoryStatistics.hits] }
        _ = try await pipeline.image(for: url)
        #expect(counts() == [1, 0])
        _ = try await pipeline.image(for: url)
        #expect(counts() == [1, 1])
        // A user has a key of his own besides that of all, and another size may do.
        var request = ImageRequest(url)
        request.network.user = "me"
        request.decode.target = TargetSize(PixelSize(2, 2))
        request.cachePolicy = .onlyIfCached
        request.cachePolicy.acceptsLarger = true
        request.cachePolicy.reads = .memory
        cache.clearMemory()
        _ = try? await pipeline.image(for: request)
        #expect(counts() == [2, 1])
        // From the disk on the caller's thread.
        _ = await fixture.diskEntries()
        var onDisk = ImageRequest(url)
        onDisk.cachePolicy.readsDiskSynchronously = true
        #expect(pipeline.task(for: onDisk).status == .finished)
        #expect(counts() == [3, 1])
        // A program's own question, and a policy that does not ask.
        #expect(cache.image(inMemoryFor: PipelineFixture.url("none")) == nil)
        _ = try await pipeline.image(for: ImageRequest(url, cachePolicy: .reload))
        #expect(counts() == [4, 1])
    }

    /// An encoding waits for memory as a decode does, and gives it back.
    @Test func anEncodingWaitsForItsMemory() async throws {
        let budget = DecodeBudget(capacity: 1 << 20)
        let coders = CoderRegistry(CoderRegistry.standard().coders, budget: budget)
        let fixture = PipelineFixture(disk: false) { $0.coders = coders }
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        #expect(budget.available == budget.capacity)
        #expect(budget.bytes.reserveNow(budget.capacity))
        let encoding = Task { try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png) }
        while budget.bytes.waitingCount == 0 { await Task.yield() }
        budget.bytes.release(budget.capacity)
        #expect(try await !encoding.value.data.isEmpty)
        #expect(budget.available == budget.capacity)
    }

    /// An image that is in memory already is encoded even if the budget is smaller than its pixels.
    @Test func anImageLargerThanTheBudgetIsEncoded() async throws {
        let coders = CoderRegistry(CoderRegistry.standard().coders, budget: DecodeBudget(capacity: 16))
        let fixture = PipelineFixture(disk: false) { $0.coders = coders }
        let url = PipelineFixture.url("kept")
        let image = try CoderRegistry.standard().decode(try TestFiles.data("png/rgb8.png"))
        try await fixture.pipeline.cache.store(image, for: url, to: .memory)
        let encoded = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(encoded.origin == .memory)
        #expect(!encoded.data.isEmpty)
    }

    /// Memory is looked up again before a job begins.
    @Test @JobActor func anImageThatCameMeanwhileIsTaken() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let image = try Image(data: try TestFiles.data("png/rgb8.png"))
        // Its start waits for this actor.
        let task = fixture.pipeline.task(for: ImageRequest(url))
        let cache = fixture.pipeline.cache
        cache.remember(CachedImage(image: image, encodedBytes: 1, http: nil), for: cache.key(for: url), expiration: nil)
        #expect(try await task.response.origin == .memory)
        #expect(fixture.transport.requestCount == 0)
    }
}
