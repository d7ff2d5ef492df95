import Foundation
import Halcyon
import HalcyonCache
import HalcyonCodecs
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Looks for encodings that need no work.
@Suite(.timeLimit(.minutes(5)))
struct CachedEncodedImageTests {
    private let clock = ManualClock()
    private let encodings: [ImageEncoding] = [.png, .webp(quality: 0.8), .original]

    private func fixture() -> PipelineFixture { PipelineFixture(clock: clock.timeSource) }

    private func request(_ url: URL) -> ImageRequest {
        ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
    }

    private func settle(_ fixture: PipelineFixture) async {
        await fixture.pipeline.shutdown(within: .seconds(300))
        fixture.pipeline.cache.clearMemory()
    }

    @Test func anEncodingThatWasMadeIsFoundWithoutALoad() async throws {
        let fixture = fixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=60"])
        for encoding in encodings {
            let made = try await fixture.pipeline.encodedImage(for: request(url), as: encoding)
            await settle(fixture)
            let (events, decodes) = (fixture.pipeline.events, fixture.decodes.value)
            let found = try #require(await fixture.pipeline.cachedEncodedImage(for: request(url), as: encoding))
            #expect(found.data == made.data && found.etag == made.etag && found.size == made.size)
            #expect(found.mediaType == made.mediaType && found.origin == .disk)
            #expect(found.freshness.maximumAge == made.freshness.maximumAge)
            #expect(fixture.decodes.value == decodes)
            // The next load is the first that the events tell of.
            _ = try? await fixture.pipeline.image(for: URL(string: "data:,next"))
            #expect(await events.first { _ in true }?.source.hasPrefix("data:") == true)
        }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func nothingIsMadeOfBytesThatAreThere() async throws {
        let fixture = fixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=60"])
        #expect(await fixture.pipeline.cachedEncodedImage(for: request(url), as: .original) == nil)
        _ = try await fixture.pipeline.encodedImage(for: request(url), as: .original)
        await settle(fixture)
        #expect(await fixture.pipeline.cachedEncodedImage(for: request(url), as: .png) == nil)
        #expect(fixture.decodes.value == 0)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func anEncodingThatItsServerMustConfirmIsNotFound() async throws {
        let fixture = fixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
        for encoding in encodings { _ = try await fixture.pipeline.encodedImage(for: request(url), as: encoding) }
        await settle(fixture)
        clock.advance(by: .seconds(61))
        for encoding in encodings {
            #expect(await fixture.pipeline.cachedEncodedImage(for: request(url), as: encoding) == nil)
        }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func bytesThatAreNoImageAreNotFound() async throws {
        let fixture = fixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=60"])
        _ = try await fixture.pipeline.encodedImage(for: request(url), as: .original)
        await settle(fixture)
        let disk = try #require(fixture.pipeline.cache.disk)
        let entry = try #require(await fixture.pipeline.cache.storedOriginal(for: url))
        let key = try #require(await disk.entries().first?.key)
        await disk.stage(Data("no image".utf8), metadata: entry.metadata, for: key)
        #expect(await fixture.pipeline.cachedEncodedImage(for: request(url), as: .original) == nil)
    }

    @Test func aRequestThatCannotBeMadeFindsNothing() async {
        let request = ImageRequest(ImageSource(string: ""))
        #expect(await fixture().pipeline.cachedEncodedImage(for: request, as: .png) == nil)
    }

    @Test func nothingIsFoundOnceItIsCancelled() async throws {
        let fixture = fixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=60"])
        _ = try await fixture.pipeline.encodedImage(for: request(url), as: .png)
        await settle(fixture)
        let found = await withTaskGroup(of: EncodedImage?.self) { group in
            group.cancelAll()
            group.addTask { await fixture.pipeline.cachedEncodedImage(for: request(url), as: .png) }
            return await group.next() ?? nil
        }
        #expect(found == nil)
    }
}
