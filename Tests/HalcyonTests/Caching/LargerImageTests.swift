import Foundation
import Halcyon
import TestSupport
import Testing

/// An image in memory that is large enough serves a smaller request, where that allows it.
@Suite(.timeLimit(.minutes(5)))
struct LargerImageTests {
    private let fixture = PipelineFixture()

    private func request(_ url: URL, fit side: Int?, mode: ResizeMode = .fit) -> ImageRequest {
        var request = ImageRequest(url)
        request.decode.target = side.map { TargetSize(PixelSize($0, $0), mode: mode) }
        request.cachePolicy.acceptsLarger = true
        return request
    }

    private func origin(_ request: ImageRequest) async throws -> ImageOrigin {
        try await fixture.pipeline.response(for: request).origin
    }

    @Test func theFullSizeServesASmallerOneAndNotTheOtherWayRound() async throws {
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        let small = try await fixture.pipeline.response(for: request(url, fit: 12))
        #expect(small.image.size == PixelSize(12, 8))
        // T-20: the small one is not the large one.
        let full = try await fixture.pipeline.response(for: request(url, fit: nil))
        #expect(full.origin != .memory)
        #expect(full.image.size == PixelSize(48, 32))
        let middle = try await fixture.pipeline.response(for: request(url, fit: 20))
        #expect(middle.origin == .memory)
        #expect(middle.image.size == PixelSize(48, 32))
        // Its own size is found first.
        #expect(try await fixture.pipeline.response(for: request(url, fit: 12)).image.size == PixelSize(12, 8))
    }

    @Test func theSmallestThatIsLargeEnoughServes() async throws {
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        for side in [nil, 30, 24, 6] as [Int?] {
            var request = request(url, fit: side)
            request.cachePolicy.acceptsLarger = false
            _ = try await fixture.pipeline.image(for: request)
        }
        let found = try await fixture.pipeline.response(for: request(url, fit: 21))
        #expect(found.origin == .memory)
        #expect(found.image.size == PixelSize(24, 16))
    }

    @Test func anImageOfAnotherLightIsNoLargerOne() async throws {
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        var linear = request(url, fit: 30)
        linear.decode.target?.light = .linear
        _ = try await fixture.pipeline.image(for: linear)
        #expect(try await origin(request(url, fit: 20)) != .memory)
        linear.decode.target?.size = PixelSize(21, 21)
        let found = try await fixture.pipeline.response(for: linear)
        #expect(found.origin == .memory)
        #expect(found.image.size == PixelSize(30, 20))
        // Nothing was averaged in the whole image.
        _ = try await fixture.pipeline.image(for: request(url, fit: nil))
        linear.decode.target?.size = PixelSize(40, 40)
        #expect(try await origin(linear) == .memory)
    }

    /// The first look-up finds what came before it, in either level.
    @Test func evictedImageOnScreenServesSmallerRequest() async throws {
        let url = try #require(URL(string: "https://example.org/a.jpg"))
        let onScreen = try Image(data: try TestFiles.data("jpeg/baseline-420.jpg"))
        let cache = ImageCache(disk: nil, memoryPressure: nil)
        try await cache.store(onScreen, for: url)
        cache.trimMemory(toFraction: 0)
        #expect(cache.memoryStatistics.weakCount == 1)
        #expect(cache.image(inMemoryFor: request(url, fit: 20))?.bitmap === onScreen.bitmap)
        cache.clearMemory()
        #expect(cache.image(inMemoryFor: request(url, fit: 20)) == nil)
        try await cache.store(onScreen, for: url)
        #expect(cache.image(inMemoryFor: request(url, fit: 20))?.bitmap === onScreen.bitmap)
    }

    @Test func largerImageServesOnlyIfPolicyAccepts() async throws {
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        _ = try await fixture.pipeline.image(for: url)
        var strict = request(url, fit: 20)
        strict.cachePolicy.acceptsLarger = false
        #expect(fixture.pipeline.cache.image(inMemoryFor: strict) == nil)
        #expect(fixture.pipeline.cache.image(inMemoryFor: request(url, fit: 20)) != nil)
        #expect(try await origin(strict) == .disk)
    }

    @Test func croppedOrProcessedImageDoesNotServeOthers() async throws {
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        let other = try fixture.serve("jpeg/gray.jpg")
        _ = try await fixture.pipeline.image(for: url)
        let cache = fixture.pipeline.cache
        // Cut, processed, a part, another source.
        #expect(cache.image(inMemoryFor: request(url, fit: 20, mode: .fill)) == nil)
        #expect(cache.image(inMemoryFor: request(url, fit: 20, mode: .stretch)) == nil)
        var processed = request(url, fit: 20)
        processed.processors = [.flip(.vertical)]
        #expect(cache.image(inMemoryFor: processed) == nil)
        var part = request(url, fit: 20)
        part.decode.region = PixelRect(x: 0, y: 0, width: 30, height: 30)
        #expect(cache.image(inMemoryFor: part) == nil)
        #expect(cache.image(inMemoryFor: request(other, fit: 4)) == nil)
        // And a cut one does not serve a whole one.
        cache.clearMemory()
        _ = try await fixture.pipeline.image(for: request(url, fit: 32, mode: .fill))
        #expect(cache.image(inMemoryFor: request(url, fit: 10)) == nil)
    }

    @Test func anImageThatHasGoneDoesNotServe() async throws {
        let url = try fixture.serve("jpeg/baseline-420.jpg")
        _ = try await fixture.pipeline.image(for: url)
        await fixture.pipeline.cache.remove(url, from: .memory)
        #expect(fixture.pipeline.cache.image(inMemoryFor: request(url, fit: 20)) == nil)
        // Many that come and go are not remembered for ever.
        let (image, cache) = (try await fixture.pipeline.image(for: url), fixture.pipeline.cache)
        for number in 0..<2000 {
            try await cache.store(image, for: "\(number)", to: .memory)
            await cache.remove("\(number)", from: .memory)
        }
        #expect(cache.image(inMemoryFor: request(url, fit: 20)) != nil)
    }
}
