import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonProcessing
import TestSupport
import Testing

/// The pixels of finished images on the disk.
@Suite(.timeLimit(.minutes(5)))
struct StoredBitmapTests {
    /// A serializer that changes the bytes of finished images after the default one has made them.
    private struct Changing: CacheSerializer {
        let change: @Sendable (inout Data) -> Void

        func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
            var data = try DefaultCacheSerializer().data(for: input, context: context)
            if input.isProcessed, var changed = data {
                change(&changed)
                data = changed
            }
            return data
        }
    }

    private static func request(_ url: URL?, width: Int = 7, height: Int = 5) -> ImageRequest {
        ImageRequest(
            url, processors: [.crop(PixelRect(x: 0, y: 0, width: width, height: height))], cachePolicy: .storeProcessed)
    }

    private func stored(_ request: ImageRequest, _ fixture: PipelineFixture) async -> Data? {
        let key = fixture.pipeline.cache.key(for: request)
        return await fixture.pipeline.cache.disk?.entry(for: key.processedEntryKey)?.data
    }

    // Sizes on both sides of the four pixels that are packed at a time.
    @Test(arguments: [(1, 1), (3, 1), (4, 1), (5, 3), (8, 8), (13, 7)], ["png/rgb8.png", "png/rgba8.png"])
    func pixelsComeBackAsTheyWere(size: (width: Int, height: Int), file: String) async throws {
        let fixture = PipelineFixture()
        let request = Self.request(try fixture.serve(file), width: size.width, height: size.height)
        let made = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let bytes = try #require(await stored(request, fixture))
        #expect(bytes.count == 24 + size.width * size.height * (made.bitmap.isOpaque ? 3 : 4))
        fixture.pipeline.cache.clearMemory()
        let read = try await fixture.pipeline.response(for: request)
        #expect(read.origin == .disk && read.image.hasSamePixels(as: made))
        #expect(read.image.bitmap.isOpaque == made.bitmap.isOpaque && read.image.info == made.info)
        fixture.pipeline.cache.clearMemory()
        var synchronous = request
        synchronous.cachePolicy.readsDiskSynchronously = true
        #expect(fixture.pipeline.task(for: synchronous).status == .finished)
        #expect(try await fixture.pipeline.cache.image(for: request)?.hasSamePixels(as: made) == true)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aProfileComesBack() async throws {
        // The fixture's own decoder leaves profiles out.
        let fixture = PipelineFixture { $0.coders = .standard() }
        var request = Self.request(try fixture.serve("color/adobe.jpg"))
        request.decode.color = .asStored
        let made = try await fixture.pipeline.image(for: request)
        let profile = try #require(made.colorProfile)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        let read = try await fixture.pipeline.response(for: request)
        #expect(read.origin == .disk && read.image.hasSamePixels(as: made))
        #expect(read.image.colorProfile == profile)
    }

    @Test func aSmallerFormatMayBeChosen() async throws {
        let fixture = PipelineFixture()
        var request = Self.request(try fixture.serve("png/rgb8.png"))
        request.serializer = FixedFormatCacheSerializer.png
        let made = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let bytes = try #require(await stored(request, fixture))
        #expect(try Image(data: bytes).hasSamePixels(as: made))
        fixture.pipeline.cache.clearMemory()
        // The built-in serializers read each other's entries.
        request.serializer = nil
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
    }

    static let damages: [(name: String, change: @Sendable (inout Data) -> Void)] = [
        ("cut off in the header", { $0 = $0.prefix(23) }), ("the mark alone", { $0 = $0.prefix(8) }),
        ("a byte less", { $0.removeLast() }), ("a byte more", { $0.append(0) }),
        ("no width", { $0.replaceSubrange(8..<12, with: [0, 0, 0, 0]) }),
        ("another width", { $0[8] = 8 }), ("another height", { $0[12] = 6 }),
        ("the largest sides", { $0.replaceSubrange(8..<16, with: [UInt8](repeating: 255, count: 8)) }),
        ("sides beyond a bitmap's", { $0 = $0.prefix(8) + [1, 0, 32, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0] }),
        ("another kind", { $0[16] = 0 }), ("an unknown kind", { $0[16] = 2 }), ("a kind of four bytes", { $0[19] = 1 }),
        ("a profile that is not there", { $0[20] = 1 }),
        ("a profile of all", { $0.replaceSubrange(20..<24, with: [255, 255, 255, 255]) }),
    ]

    @Test(arguments: damages.map(\.name)) func damagedBytesAreMadeAnew(_ name: String) async throws {
        let change = try #require(Self.damages.first { $0.name == name }?.change)
        let fixture = PipelineFixture()
        var request = Self.request(try fixture.serve("png/rgb8.png"))
        request.serializer = Changing(change: change)
        let made = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await stored(request, fixture) != nil)
        fixture.pipeline.cache.clearMemory()
        request.serializer = nil
        request.cachePolicy.writes = [.memory]
        let read = try await fixture.pipeline.response(for: request)
        #expect(read.image.hasSamePixels(as: made))
        #expect(await stored(request, fixture) == nil)
        // The source's own bytes are still there.
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aLimitIsAMissThatLeavesTheEntry() async throws {
        let fixture = PipelineFixture()
        var request = Self.request(try fixture.serve("png/rgb8.png"))
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        fixture.pipeline.cache.clearMemory()
        request.decode.limits.maximumPixels = 34
        request.cachePolicy = .onlyIfCached
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
        #expect(await stored(request, fixture) != nil)
    }

    @Test func bytesOfAServerAreNeverReadAsPixels() async throws {
        let fixture = PipelineFixture()
        let request = Self.request(try fixture.serve("png/rgb8.png"))
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let bytes = try #require(await stored(request, fixture))
        let url = URL(web: "http://images.test/pixels")
        fixture.transport.answer(url, with: .data(bytes))
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: url) }
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: Self.request(url)) }
        #expect(throws: CodecError.self) { try Image(data: bytes) }
    }

    @Test func storedAndConvertedColorsHaveEntriesOfTheirOwn() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        var request = Self.request(try fixture.serve("color/adobe.jpg"))
        for color in [ColorHandling.asStored, .sRGB, .asStored] {
            request.decode.color = color
            let image = try await fixture.pipeline.image(for: request)
            #expect((image.colorProfile == nil) == (color == .sRGB))
            #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
            fixture.pipeline.cache.clearMemory()
        }
        #expect(await fixture.pipeline.cache.disk?.count() == 3)
    }
}
