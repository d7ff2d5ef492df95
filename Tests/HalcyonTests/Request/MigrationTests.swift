import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Options of the peers whose counterparts no other test shows.
@Suite struct MigrationTests {
    @Test func eachPipelineHasItsDownloader() async throws {
        let (first, second) = (PipelineFixture(), PipelineFixture())
        let url = try first.serve("png/rgb8.png")
        second.transport.answer(url, with: .data(try TestFiles.data("jpeg/gray.jpg")))
        #expect(try await first.pipeline.image(for: url).info.format == .png)
        #expect(try await second.pipeline.image(for: url).info.format == .jpeg)
        #expect(first.transport.requestCount == 1 && second.transport.requestCount == 1)
    }

    @Test func resultsMayBeKeptInMemoryAlone() async throws {
        let fixture = PipelineFixture()
        var request = ImageRequest(try fixture.serve("png/rgb8.png"))
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.diskEntries() == 1)
        await fixture.pipeline.cache.remove(request)
        request.cachePolicy.writes = .memory
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.diskEntries() == 0)
        #expect(await fixture.pipeline.cache.cachedLevel(for: request) == .memory)
    }

    @Test func anAccessExtendsAsTheRequestSays() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url)
        request.cachePolicy.memoryExpiration = .seconds(10)
        request.cachePolicy.diskExpiration = .seconds(100)
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.diskEntries() == 1)
        request.cachePolicy.memoryExtension = .expirationTime(.seconds(60))
        request.cachePolicy.diskExtension = .expirationTime(.seconds(86_400))
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        clock.advance(by: .seconds(59))
        #expect(fixture.pipeline.cache.image(inMemoryFor: url) != nil)
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
        fixture.pipeline.cache.clearMemory()
        clock.advance(by: .seconds(86_000))
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
        fixture.pipeline.cache.clearMemory()
        clock.advance(by: .seconds(86_401))
        #expect(try await fixture.pipeline.response(for: request).origin == .network)
    }
}
