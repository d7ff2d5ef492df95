import Foundation
import Halcyon
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonProcessing
import HalcyonTesting
import TestSupport
import Testing

/// Loads of files that were cut off at their server, by requests that allow it: they are shown, and no cache has them.
@Suite(.timeLimit(.minutes(5)))
struct IncompleteLoadTests {
    /// Makes an image that does not say what it was made of.
    private struct Forgetful: ImageProcessor {
        func encode(into key: inout KeyEncoder) { key.encode(type: "org.example.forgetful", version: 1) }
        func process(_ image: Image, context: WorkContext) throws -> Image {
            Image(bitmap: image.bitmap, info: ImageInfo(format: .png, size: image.size))
        }
    }

    private static let file = "png/rgb8.png"
    private static let url = PipelineFixture.url(file)

    /// A pipeline with the real decoders, whose server has the beginning of a file, and then other answers.
    private func fixture(_ others: ScriptedTransport.Answer..., gate: ScriptedTransportGate? = nil) throws
        -> PipelineFixture
    {
        let fixture = PipelineFixture { $0.coders = .standard() }
        var answer = ScriptedTransport.Answer.data(try TestFiles.data(Self.file).prefix(900))
        answer.headGate = gate
        let transport = fixture.transport
        switch others.first {
        case let other?: transport.answer(Self.url, with: answer, other)
        case nil: transport.answer(Self.url, with: answer)
        }
        return fixture
    }

    private func request(_ processors: [any ImageProcessor] = [], allowed: Bool = true) -> ImageRequest {
        var request = ImageRequest(Self.url, processors: processors, cachePolicy: .storeProcessed)
        request.cachePolicy.writes.insert(.memoryOriginal)
        request.cachePolicy.waitsForStore = true
        request.decode.allowsIncomplete = allowed
        return request
    }

    @Test(arguments: [[], [ResizeProcessor(PixelSize(9, 9))], [Forgetful()]] as [[any ImageProcessor]])
    func noCacheKeepsIt(processors: [any ImageProcessor]) async throws {
        let fixture = try fixture()
        for count in 1...2 {
            let response = try await fixture.pipeline.response(for: request(processors))
            #expect(response.image.info.isPreview || processors.first is Forgetful)
            #expect(response.origin == .network && response.image.bitmap.isOpaque == false)
            #expect(fixture.transport.requestCount == count)
            for key in [request(processors), request(), request(allowed: false)] {
                #expect(fixture.pipeline.cache.image(inMemoryFor: key) == nil)
                #expect(await fixture.pipeline.cache.cachedLevel(for: key) == nil)
            }
            #expect(await fixture.diskEntries() == 0)
        }
    }

    /// They share the bytes, and nothing else.
    @Test func aRequestThatDoesNotAllowItFailsBesideOneThatDoes() async throws {
        let gate = ScriptedTransportGate()
        let fixture = try fixture(gate: gate)
        let tasks = [true, false, true, false].map { fixture.pipeline.task(for: request(allowed: $0)) }
        try await fixture.transport.waitForRequests(1)
        gate.open()
        for (index, task) in tasks.enumerated() {
            if index % 2 == 0 {
                #expect(try await task.response.image.info.isPreview)
            } else {
                await #expect { try await task.response } throws: {
                    ($0 as? ImagePipelineError)?.code == "damagedImage"
                }
            }
        }
        #expect(fixture.transport.requestCount == 1)
        #expect(await fixture.diskEntries() == 0)
    }

    @Test func theNextLoadGetsTheWholeFile() async throws {
        let fixture = try fixture(.data(try TestFiles.data(Self.file)))
        #expect(try await fixture.pipeline.image(for: request()).info.isPreview)
        let whole = try await fixture.pipeline.image(for: request())
        #expect(!whole.info.isPreview && whole.bitmap.isOpaque)
        #expect(await fixture.diskEntries() == 1)
    }

    /// A whole image is the same for both kinds of request.
    @Test(arguments: [true, false]) func wholeImagesAreShared(first: Bool) async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        _ = try fixture.serve(Self.file)
        let image = try await fixture.pipeline.image(for: request(allowed: first))
        let response = try await fixture.pipeline.response(for: request(allowed: !first))
        #expect(response.origin == .memory && response.image.hasSamePixels(as: image))
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: request(allowed: !first)).origin == .disk)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func anEncodingOfItIsNotKept() async throws {
        let fixture = try fixture()
        for count in 1...2 {
            let answer = try await fixture.pipeline.encodedImage(for: request(), as: .png)
            #expect(try CoderRegistry.standard().probe(answer.data).size == PixelSize(48, 32))
            #expect(fixture.transport.requestCount == count)
            #expect(await fixture.diskEntries() == 0)
        }
    }

    @Test func theProgramCannotStoreIt() async throws {
        let fixture = try fixture()
        let image = try await fixture.pipeline.image(for: request())
        await #expect(throws: ImageCacheError.preview) { try await fixture.pipeline.cache.store(image, for: request()) }
        #expect(fixture.pipeline.cache.image(inMemoryFor: request()) == nil)
    }

    /// An entry of the disk is not shown in part, but fetched anew.
    @Test func aCutEntryIsReplaced() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        let whole = try TestFiles.data(Self.file)
        fixture.transport.answer(Self.url, with: .data(whole))
        let disk = try #require(fixture.pipeline.cache.disk)
        let key = fixture.pipeline.cache.key(for: request()).originalEntryKey
        try await disk.store(whole.prefix(900), for: key)
        let response = try await fixture.pipeline.response(for: request())
        #expect(!response.image.info.isPreview && response.origin == .network)
        #expect(fixture.transport.requestCount == 1)
        #expect(await disk.entry(for: key)?.data == whole)
    }

    @Test func aBodyShorterThanItsLengthStaysAnError() async throws {
        let fixture = PipelineFixture { $0.coders = .standard() }
        let whole = try TestFiles.data(Self.file)
        fixture.transport.answer(
            Self.url,
            with: .init(headers: ["Content-Length": "\(whole.count)"], steps: [.chunk(whole.prefix(900))]))
        await #expect { try await fixture.pipeline.image(for: request()) } throws: {
            ($0 as? ImagePipelineError)?.code == "connection"
        }
    }

    @Test func aLocalFileIsNotKeptEither() async throws {
        let fixture = try fixture()
        try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
        let file = fixture.folder.appending(path: "cut.png")
        try TestFiles.data(Self.file).prefix(900).write(to: file)
        var request = ImageRequest(file)
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
        request.decode.allowsIncomplete = true
        #expect(try await fixture.pipeline.image(for: request).info.isPreview)
        #expect(fixture.pipeline.cache.image(inMemoryFor: request) == nil)
        #expect(throws: CodecError.self) { try Image(contentsOf: file) }
        #expect(try Image(contentsOf: file, options: request.decode).info.isPreview)
    }
}
