import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonProcessing
import TestSupport
import Testing

/// Gain maps through a pipeline: in encodings, in both caches, and beside requests that do not ask for them.
@Suite(.timeLimit(.minutes(5)))
struct GainMapEncodingTests {
    private let fixture = PipelineFixture { $0.coders = .standard() }

    private func request(_ url: URL?, _ processors: [any ImageProcessor] = []) -> ImageRequest {
        ImageRequest(url, processors: processors, cachePolicy: .storeProcessed)
    }

    private func map(_ data: Data) throws -> GainMap? {
        try CoderRegistry.standard().decode(data, options: DecodeOptions(decodesGainMap: true)).gainMap
    }

    @Test func aJPEGKeepsTheMapOfItsSource() async throws {
        let url = try fixture.serve("gainmap/ultra-hdr.jpg")
        let small = request(url, [.resize(to: PixelSize(24, 16))])
        let pipeline = fixture.pipeline
        let answer = try await pipeline.encodedImage(for: small, as: .jpeg())
        #expect(answer.size == PixelSize(24, 16))
        #expect(try map(answer.data)?.size == PixelSize(12, 8))
        // The base alone if asked for, in other formats, and behind processors that a map cannot follow.
        let alone = ImageEncoding(.jpeg, options: EncodeOptions(keepsGainMap: false))
        #expect(try map(try await pipeline.encodedImage(for: small, as: alone).data) == nil)
        #expect(try map(try await pipeline.encodedImage(for: small, as: .png).data) == nil)
        let blurred = request(url, [.blur(radius: 1)])
        #expect(try map(try await pipeline.encodedImage(for: blurred, as: .jpeg()).data) == nil)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aViewGetsNoMap() async throws {
        let url = try fixture.serve("gainmap/ultra-hdr.jpg")
        let small = request(url, [.resize(to: PixelSize(24, 16))])
        _ = try await fixture.pipeline.encodedImage(for: small, as: .jpeg())
        #expect(try await fixture.pipeline.image(for: small).gainMap == nil)
        var asking = small
        asking.decode.decodesGainMap = true
        let response = try await fixture.pipeline.response(for: asking)
        #expect(response.image.gainMap != nil && response.origin == .memory)
    }

    @Test(arguments: ["gainmap/ultra-hdr.jpg", "gainmap/iso.jpg"])
    func aFinishedImageComesBackFromTheDiskWithItsMap(_ name: String) async throws {
        var request = request(try fixture.serve(name), [.crop(PixelRect(x: 8, y: 8, width: 24, height: 16))])
        request.decode.decodesGainMap = true
        let made = try await fixture.pipeline.image(for: request)
        let map = try #require(made.gainMap)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        for synchronously in [false, true] {
            fixture.pipeline.cache.clearMemory()
            request.cachePolicy.readsDiskSynchronously = synchronously
            let read = try await fixture.pipeline.response(for: request)
            #expect(read.origin == .disk && read.image.hasSamePixels(as: made))
            let kept = try #require(read.image.gainMap)
            #expect(kept.size == map.size && kept.isMonochrome == map.isMonochrome)
            #expect(abs(kept.metadata.red.maximum - map.metadata.red.maximum) < 1e-6)
            #expect(
                Image(bitmap: kept.bitmap, info: made.info).hasSamePixels(
                    as: Image(bitmap: map.bitmap, info: made.info)))
            #expect(read.image.colorProfile == made.colorProfile)
        }
    }

    /// PNG holds no map: such an entry is made anew, and never stands for the image with its map.
    @Test func anEntryThatLostTheMapIsNone() async throws {
        var request = request(
            try fixture.serve("gainmap/ultra-hdr.jpg"), [.crop(PixelRect(x: 8, y: 8, width: 24, height: 16))])
        request.decode.decodesGainMap = true
        request.serializer = .png
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.image(for: request).gainMap != nil)
        request.serializer = .jpeg()
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.image(for: request).gainMap != nil)
    }

    /// Most sources have none: their images are shared by those who ask and those who do not.
    @Test func anImageWithoutAMapIsOneForAll() async throws {
        let plain = request(
            try fixture.serve("jpeg/baseline-420.jpg"), [.crop(PixelRect(x: 0, y: 0, width: 9, height: 9))])
        let pipeline = fixture.pipeline
        _ = try await pipeline.encodedImage(for: plain, as: .jpeg())
        #expect(try await pipeline.response(for: plain).origin == .memory)
        #expect(pipeline.cache.memoryStatistics.count == 1)
        await pipeline.shutdown(within: .seconds(300))
        pipeline.cache.clearMemory()
        #expect(try await pipeline.response(for: plain).origin == .disk)
        pipeline.cache.clearMemory()
        var asking = plain
        asking.decode.decodesGainMap = true
        #expect(await pipeline.cache.cachedLevel(for: asking) == .diskProcessed)
        #expect(try await pipeline.response(for: asking).origin == .disk)
        #expect(await pipeline.cache.cachedLevel(for: asking) == .memory)
        #expect(try await pipeline.response(for: plain).origin == .memory)
    }

    @Test func aRemovedImageIsRemovedWithItsMap() async throws {
        let url = try fixture.serve("gainmap/ultra-hdr.jpg")
        let plain = request(url, [.crop(PixelRect(x: 0, y: 0, width: 9, height: 9))])
        var asking = plain
        asking.decode.decodesGainMap = true
        let pipeline = fixture.pipeline
        _ = try await pipeline.image(for: asking)
        await pipeline.shutdown(within: .seconds(300))
        await pipeline.cache.remove(plain)
        #expect(await pipeline.cache.cachedLevel(for: asking) == nil)
        _ = try await pipeline.image(for: asking)
        #expect(fixture.transport.requestCount == 2)
    }

    /// A source may get a gain map, or lose it, while its address stays the same.
    @Test(arguments: [true, false]) func aSourceThatChangesIsSeenByAllWhoAsk(losesMap: Bool) async throws {
        let files = ["gainmap/ultra-hdr.jpg", "jpeg/baseline-420.jpg"]
        let (first, second) = losesMap ? (files[0], files[1]) : (files[1], files[0])
        let url = PipelineFixture.url("changing")
        var asking = request(url, [.crop(PixelRect(x: 0, y: 0, width: 9, height: 9))])
        asking.decode.decodesGainMap = true
        let pipeline = fixture.pipeline
        fixture.transport.answer(url, with: .data(try TestFiles.data(first)))
        #expect((try await pipeline.image(for: asking).gainMap != nil) == losesMap)
        fixture.transport.answer(url, with: .data(try TestFiles.data(second)))
        var reloading = asking
        reloading.cachePolicy.reads = []
        let new = try await pipeline.image(for: reloading)
        #expect((new.gainMap != nil) != losesMap)
        #expect(try await pipeline.image(for: asking).hasSamePixels(as: new))
        await pipeline.shutdown(within: .seconds(300))
        pipeline.cache.clearMemory()
        let read = try await pipeline.response(for: asking)
        #expect(read.origin == .disk && read.image.hasSamePixels(as: new))
        #expect((read.image.gainMap != nil) != losesMap)
    }

    /// A reload of the picture alone makes the one with the map old as well.
    @Test func aReloadIsForBoth() async throws {
        let url = PipelineFixture.url("changing")
        let plain = request(url, [.crop(PixelRect(x: 0, y: 0, width: 9, height: 9))])
        var (asking, reloading) = (plain, plain)
        asking.decode.decodesGainMap = true
        reloading.cachePolicy.reads = []
        fixture.transport.answer(url, with: .data(try TestFiles.data("gainmap/ultra-hdr.jpg")))
        _ = try await fixture.pipeline.image(for: asking)
        fixture.transport.answer(url, with: .data(try TestFiles.data("gainmap/iso.jpg")))
        _ = try await fixture.pipeline.image(for: reloading)
        await fixture.pipeline.shutdown(within: .seconds(300))
        // The map of the second file has three channels.
        #expect(try await fixture.pipeline.image(for: asking).gainMap?.isMonochrome == false)
    }

    @Test(arguments: [FixedFormatCacheSerializer.png, .jpeg()])
    func theSourceIsNotReplacedByLess(_ serializer: FixedFormatCacheSerializer) async throws {
        let url = try fixture.serve("gainmap/ultra-hdr.jpg")
        var plain = ImageRequest(url)
        plain.serializer = serializer
        _ = try await fixture.pipeline.image(for: plain)
        await fixture.pipeline.shutdown(within: .seconds(300))
        fixture.pipeline.cache.clearMemory()
        var asking = plain
        asking.decode.decodesGainMap = true
        let response = try await fixture.pipeline.response(for: asking)
        #expect(response.origin == .disk && response.image.gainMap != nil)
    }

    /// The picture with its map keeps the colours of its file, and does not stand for one in sRGB.
    @Test func aLargerImageWithAMapIsNotTakenForAView() async throws {
        let url = try fixture.serve("gainmap/iso.jpg")
        _ = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .jpeg())
        var view = ImageRequest(url, decode: DecodeOptions(target: TargetSize(PixelSize(24, 24))))
        view.cachePolicy.acceptsLarger = true
        let image = try await fixture.pipeline.image(for: view)
        #expect(image.colorProfile == nil && image.gainMap == nil && image.size == PixelSize(24, 16))
    }

    @Test func whatIsKeptBeforeProcessorsIsRemovedToo() async throws {
        let url = PipelineFixture.url("changing")
        fixture.transport.answer(url, with: .data(try TestFiles.data("jpeg/baseline-420.jpg")))
        var asking = ImageRequest(url, processors: [.crop(PixelRect(x: 0, y: 0, width: 9, height: 9))])
        asking.decode.decodesGainMap = true
        asking.cachePolicy.reads.insert(.memoryOriginal)
        asking.cachePolicy.writes.insert(.memoryOriginal)
        let former = try await fixture.pipeline.image(for: asking)
        await fixture.pipeline.cache.remove(asking, from: [.memory, .memoryOriginal, .disk])
        fixture.transport.answer(url, with: .data(try TestFiles.data("jpeg/gray.jpg")))
        #expect(try await !fixture.pipeline.image(for: asking).hasSamePixels(as: former))
    }
}
