import Foundation
import Halcyon
import HalcyonSystem
import TestSupport
import Testing

/// Keeps bytes with every bit turned, and notes what it saw.
private struct TurningSerializer: CacheSerializer {
    let seen: SeenInputs
    var keepsNothing = false

    func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        seen.add(input)
        if keepsNothing { return nil }
        return Self.turned(try input.original ?? input.image.data(as: .png))
    }

    func data(forOriginal bytes: Data, url: URL?) throws -> Data? { Self.turned(bytes) }

    func encodedImage(in stored: Data) throws -> Data { Self.turned(stored) }

    static func turned(_ data: Data) -> Data { Data(data.map { ~$0 }) }
}

private final class SeenInputs: Sendable {
    private let inputs = Lock<[CacheSerializerInput]>([])

    func add(_ input: CacheSerializerInput) { inputs.withLock { $0.append(input) } }
    var all: [CacheSerializerInput] { inputs.withLock { $0 } }
}

@Suite(.timeLimit(.minutes(5)))
struct CacheSerializerTests {
    @Test func serializedBytesAreStoredAndReadBack() async throws {
        let seen = SeenInputs()
        let fixture = PipelineFixture {
            $0.cache = ImageCache(disk: $0.cache.disk, serializer: TurningSerializer(seen: seen))
        }
        let url = try fixture.serve("png/rgba8.png")
        let data = try TestFiles.data("png/rgba8.png")
        let first = try await fixture.pipeline.image(for: url)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await fixture.pipeline.cache.storedOriginal(for: url)?.data == TurningSerializer.turned(data))
        // It saw the image, its bytes and where they came from.
        let input = try #require(seen.all.first)
        #expect(input.image.hasSamePixels(as: first))
        #expect(input.original == data)
        #expect(input.url == url)
        #expect(seen.all.count == 1)
        fixture.pipeline.cache.clearMemory()
        let second = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(second.origin == .disk)
        #expect(second.image.hasSamePixels(as: first))
        #expect(try await second.data() == data)
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.cache.image(for: url)?.hasSamePixels(as: first) == true)
    }

    @Test func serializerEncodesProcessedImage() async throws {
        let seen = SeenInputs()
        let fixture = PipelineFixture()
        let url = try fixture.serve("jpeg/baseline-444.jpg")
        var request = ImageRequest(url, processors: [.flip(.vertical)], cachePolicy: .storeProcessed)
        request.serializer = TurningSerializer(seen: seen)
        let made = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let input = try #require(seen.all.first)
        #expect(input.original == nil)
        #expect(input.image.hasSamePixels(as: made))
        let key = fixture.pipeline.cache.key(for: request)
        let entry = try #require(await fixture.pipeline.cache.disk?.entry(for: key.processedEntryKey))
        #expect(entry.data == TurningSerializer.turned(try made.data(as: .png)))
        fixture.pipeline.cache.clearMemory()
        let read = try await fixture.pipeline.response(for: request)
        #expect(read.origin == .disk)
        #expect(read.image.hasSamePixels(as: made))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func nilFromSerializerStoresNothing() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgba8.png")
        var request = ImageRequest(url)
        request.serializer = TurningSerializer(seen: SeenInputs(), keepsNothing: true)
        _ = try await fixture.pipeline.image(for: request)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(await fixture.diskEntries() == 0)
    }

    @Test func entryUnreadableBySerializerIsDownloadedAgain() async throws {
        struct Refusing: CacheSerializer {
            func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? { input.original }
            func encodedImage(in stored: Data) throws -> Data { throw CocoaError(.fileReadCorruptFile) }
        }
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgba8.png")
        _ = try await fixture.pipeline.image(for: url)
        _ = await fixture.diskEntries()
        fixture.pipeline.cache.clearMemory()
        var request = ImageRequest(url)
        request.serializer = Refusing()
        #expect(try await fixture.pipeline.response(for: request).origin == .network)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(arguments: [
        ("jpeg/baseline-444.jpg", ImageFormat.png), ("png/rgb8.png", .jpeg), ("png/rgba8.png", .png),
        ("animation/keep.gif", .gif),
    ])
    func aFixedFormatIsWhatTheDiskHolds(file: String, expected: ImageFormat) async throws {
        // JPEG shows no alpha: that is kept as PNG.
        let serializer: any CacheSerializer =
            switch expected {
            case .gif: .gif
            case .png where file.hasPrefix("jpeg"): .png
            default: .jpeg(quality: 0.9)
            }
        let fixture = PipelineFixture { $0.cache = ImageCache(disk: $0.cache.disk, serializer: serializer) }
        let url = try fixture.serve(file)
        let made = try await fixture.pipeline.image(for: url)
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let stored = try #require(await fixture.pipeline.cache.storedOriginal(for: url))
        let read = try Image(data: stored.data)
        #expect(read.info.format == expected)
        #expect(read.size == made.size)
        #expect(read.info.frameCount == made.info.frameCount)
    }

    @Test func aGIFWithoutItsBytesStaysAGIF() async throws {
        let fixture = PipelineFixture()
        let image = try Image(data: try TestFiles.data("animation/mixed.gif"))
        let url = PipelineFixture.url("mixed.gif")
        try await fixture.pipeline.cache.store(image, for: url)
        let stored = try #require(await fixture.pipeline.cache.storedOriginal(for: url))
        let read = try Image(data: stored.data)
        #expect(read.info.format == .gif)
        #expect(read.animation?.durations == image.animation?.durations)
        #expect(read.animation?.loopCount == image.animation?.loopCount)
        #expect(read.size == image.size)
    }
}
