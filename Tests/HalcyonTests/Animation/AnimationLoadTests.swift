import Foundation
import Halcyon
import TestSupport
import Testing

/// Animations through the whole pipeline.
@Suite struct AnimationLoadTests {
    private static let files = ["animation/mixed.gif", "animation/mixed-both.webp", "animation/mixed-both.png"]

    @Test(arguments: files) func anAnimatedImageKeepsItsFramesInEveryCache(file: String) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve(file)
        let loaded = try await fixture.pipeline.image(for: url)
        let animation = try #require(loaded.animation)
        #expect(animation.frameCount == 9)
        let expected = try animation.frame(at: 5)
        let hit = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(hit.origin == .memory && hit.image.animation?.frameCount == 9)
        fixture.pipeline.configuration.cache.clearMemory()
        let read = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(read.origin == .disk)
        let frame = try #require(read.image.animation).frame(at: 5)
        #expect(frame.withPixels { new in expected.withPixels { new.elementsEqual($0) } })
    }

    @Test(arguments: files) func theFirstFrameOfACachedAnimationIsStill(file: String) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve(file)
        #expect(try await fixture.pipeline.image(for: url).animation != nil)
        var request = ImageRequest(url)
        request.decode.firstFrameOnly = true
        #expect(try await fixture.pipeline.image(for: request).animation == nil)
        // And the other way round.
        #expect(try await fixture.pipeline.image(for: url).animation != nil)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aReducedAnimationIsStoredAsOne() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("animation/mixed.gif")
        var request = ImageRequest(url)
        request.decode.target = TargetSize(PixelSize(13, 9), mode: .fit)
        request.cachePolicy.writes.insert(.diskProcessed)
        request.cachePolicy.reads.insert(.diskProcessed)
        let made = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.configuration.cache.clearMemory()
        let read = try await fixture.pipeline.image(for: request)
        #expect(fixture.transport.requestCount == 1)
        // The info describes the source, whatever the bytes on disk are.
        #expect(read.info.format == .gif)
        #expect(read.animation?.durations == made.animation?.durations)
        #expect(read.animation?.size == PixelSize(13, 9))
    }

    @Test func anAnimationCostsItsBytesAndItsCanvas() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("animation/keep.gif")
        let image = try await fixture.pipeline.image(for: url)
        let bytes = try TestFiles.data("animation/keep.gif").count
        #expect(image.cost >= bytes + image.bitmap.byteCount * 2)
        #expect(image.cost < bytes + image.bitmap.byteCount * 4)
    }

    /// The finished images on disk are told apart as well: without memory, a still is never read for an animation.
    @Test(arguments: [true, false]) func stillAndAnimationHaveEntriesOfTheirOwn(stillFirst: Bool) async throws {
        let fixture = PipelineFixture()
        var request = ImageRequest(try fixture.serve("animation/mixed.gif"), cachePolicy: .storeProcessed)
        request.decode.target = TargetSize(PixelSize(13, 9), mode: .fit)
        for firstFrameOnly in [stillFirst, !stillFirst, stillFirst] {
            request.decode.firstFrameOnly = firstFrameOnly
            let image = try await fixture.pipeline.image(for: request)
            #expect((image.animation == nil) == firstFrameOnly)
            #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
            fixture.pipeline.cache.clearMemory()
        }
        #expect(fixture.transport.requestCount == 1)
        #expect(await fixture.pipeline.cache.disk?.count() == 3)
    }
}
