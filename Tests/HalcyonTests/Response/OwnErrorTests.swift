import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonTesting
import TestSupport
import Testing

/// An error of the program's own code stays itself, and the stage where it was thrown is known.
@Suite(.timeLimit(.minutes(5))) struct OwnErrorTests {
    private struct Mine: LocalizedError, Hashable, CustomStringConvertible {
        let place: String
        var description: String { "not at the \(place)" }
        var recoverySuggestion: String? { "Go elsewhere than to the \(place)." }
    }

    private struct Provider: ImageDataProvider {
        let cacheKey = "mine"
        func data() async throws -> Data { throw Mine(place: "provider") }
    }

    private struct Interceptor: ImageInterceptor {
        func intercept(_ request: ImageRequest, next: @escaping Next) async throws -> ImageResponse {
            throw Mine(place: "interceptor")
        }
    }

    private struct Processor: ImageProcessor {
        var error: any Error = Mine(place: "processor")
        var isOfCheck = false

        static func == (left: Self, right: Self) -> Bool {
            "\(left.error)" == "\(right.error)" && left.isOfCheck == right.isOfCheck
        }

        func hash(into hasher: inout Hasher) { hasher.combine("\(error)") }
        func encode(into key: inout KeyEncoder) { key.encode(type: "test.mine", version: 1) }
        func validate() throws { if isOfCheck { throw error } }
        func process(_ image: Image, context: WorkContext) throws -> Image { throw error }
    }

    /// Reads every file at a step but fails, and writes none.
    private struct Coder: ImageDecoder, ImageEncoder {
        let formats = [ImageFormat("mine", fileExtension: "mine", mimeType: "image/x-mine")]
        var place = "decoder"

        func canDecode(_ data: Data) -> Bool { data.starts(with: Data("mine".utf8)) }

        func probe(_ data: Data) throws -> ImageInfo {
            if place == "header" { throw Mine(place: place) }
            return ImageInfo(format: formats[0], size: PixelSize(1, 1))
        }

        func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap { throw Mine(place: place) }

        func encode(
            _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
        ) throws -> Data { throw Mine(place: "encoder") }
    }

    private func expect(
        _ error: ImagePipelineError?, _ place: String, _ stage: ImagePipelineError.Stage, _ code: String,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(error?.underlying as? Mine == Mine(place: place), sourceLocation: location)
        #expect(error?.stage == stage, sourceLocation: location)
        #expect(error?.code == code, sourceLocation: location)
        #expect(error?.reason.contains("not at the \(place)") == true, sourceLocation: location)
        #expect(error?.recoverySuggestion == "Go elsewhere than to the \(place).", sourceLocation: location)
        #expect(error?.localizedDescription == error?.description, sourceLocation: location)
    }

    private func failure(_ fixture: PipelineFixture, _ request: ImageRequest) async -> ImagePipelineError? {
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
    }

    @Test func ofAProvider() async {
        let fixture = PipelineFixture()
        expect(await failure(fixture, ImageRequest(.provider(Provider()))), "provider", .source, "badSource")
        let drawn = ImageSource.image(key: "drawn") { throw Mine(place: "drawing") }
        expect(await failure(fixture, ImageRequest(drawn)), "drawing", .source, "badSource")
    }

    @Test func ofAnInterceptor() async throws {
        let fixture = PipelineFixture { $0.interceptors = [Interceptor()] }
        let url = try fixture.serve("png/rgb8.png")
        expect(await failure(fixture, ImageRequest(url)), "interceptor", .interceptor, "intercepted")
    }

    @Test func ofAProcessorAtItsCheckAndAtItsWork() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        for isOfCheck in [true, false] {
            let request = ImageRequest(url, processors: [Processor(isOfCheck: isOfCheck)])
            expect(await failure(fixture, request), "processor", .processing, "processing")
            #expect(fixture.transport.requestCount == (isOfCheck ? 0 : 1))
        }
        // Errors that other stages have as well are the processor's.
        let others: [any Error] = [CodecError.notAnImage("a stamp"), DownloadError(.offline, url: url)]
        for error in others {
            let found = await failure(fixture, ImageRequest(url, processors: [Processor(error: error)]))
            #expect(found?.stage == .processing && found?.code == "processing")
            #expect(found?.underlying.map { "\($0)" } == "\(error)")
        }
        #expect(await fixture.pipeline.jobCount == 0)
    }

    @Test(arguments: ["request", "response", "data", "own", "interceptor", "transport"])
    func ofTheNetworksSeams(place: String) async throws {
        let own = Mine(place: place)
        let fixture = PipelineFixture()
        var settings = fixture.pipeline.configuration.downloader.configuration
        settings.retry = .never
        switch place {
        case "request": settings.hooks.request = { _ in throw own }
        case "response": settings.hooks.response = { _ in throw own }
        case "data": settings.hooks.data = { _, _ in throw own }
        case "interceptor": settings.interceptors = [Refusing(error: own)]
        default: break
        }
        let pipeline = ImagePipeline(
            configuration: .init(cache: ImageCache(disk: nil), downloader: ImageDownloader(settings)))
        let url = try fixture.serve("png/rgb8.png")
        if place == "transport" { fixture.transport.answer(url, with: .failure(own)) }
        var request = ImageRequest(url)
        if place == "own" {
            var hooks = DownloadHooks()
            hooks.response = { _ in throw own }
            request.network.hooks = RequestHooks(id: "own", hooks)
        }
        let error = await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: request) }
        expect(error, place, .network, place == "transport" ? "connection" : "refused")
        guard case .download(_, let download)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(download.underlying as? Mine == own)
    }

    private struct Refusing: DownloadInterceptor {
        let error: Mine
        func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult { throw error }
    }

    @Test(arguments: ["header", "decoder"]) func ofADecoder(place: String) async throws {
        let fixture = PipelineFixture { $0.coders = CoderRegistry([Coder(place: place)]) }
        let url = PipelineFixture.url("mine")
        fixture.transport.answer(url, with: .data(Data("mine".utf8)))
        let error = await failure(fixture, ImageRequest(url))
        expect(error, place, .decoding, "coderFailed")
        guard case .decoding(_, .failed(let format, _))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(format.name == "mine")
        // The bytes are not to blame, and have not proved to be an image either.
        #expect(await fixture.diskEntries() == 0)
        #expect(fixture.pipeline.rememberedFailureCount == 0)
        #expect(await fixture.pipeline.jobCount == 0)
    }

    @Test func ofAnEncoder() async throws {
        let fixture = PipelineFixture { $0.coders.add(Coder()) }
        let url = try fixture.serve("png/rgb8.png")
        let error = await #expect(throws: ImagePipelineError.self) {
            try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: ImageEncoding(Coder().formats[0]))
        }
        expect(error, "encoder", .encoding, "encoding")
    }

    /// Without a pipeline, nothing is wrapped.
    @Test func ofACoderThatIsCalledDirectly() throws {
        let coders = CoderRegistry([Coder()])
        #expect(throws: Mine(place: "decoder")) { try Image(data: Data("mine".utf8), coders: coders) }
        let image = try Image(width: 1, height: 1, pixels: [1, 2, 3, 255])
        #expect(throws: Mine(place: "encoder")) { try image.data(as: Coder().formats[0], coders: coders) }
    }

    @Test func ofASourceAmongSeveralAndOfOneThatIsRemembered() async throws {
        let fixture = PipelineFixture { $0.rememberedFailures.isRemembered = { $0.underlying is Mine } }
        var request = ImageRequest(.provider(Provider()))
        let other = PipelineFixture.url("none")
        request.alternatives = [.remote(other)]
        let error = await failure(fixture, request)
        guard case .allSourcesFailed(_, let errors)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        expect(error, "provider", .source, "allSourcesFailed")
        #expect(errors.map(\.stage) == [.source, .network])
        #expect(errors.last?.underlying as? DownloadError == DownloadError(.httpStatus(404), url: other))
        let hooked = PipelineFixture.url("hooked")
        var hooks = DownloadHooks()
        hooks.response = { _ in throw Mine(place: "hook") }
        request = ImageRequest(hooked)
        request.network.hooks = RequestHooks(id: "hook", hooks)
        expect(await failure(fixture, request), "hook", .network, "refused")
        let again = await failure(fixture, request)
        guard case .remembered? = again else {
            Issue.record("\(String(describing: again))")
            return
        }
        expect(again, "hook", .network, "refused")
        #expect(fixture.transport.requests.count { $0.url == hooked } == 1)
    }

    @Test func aCancellationIsNoErrorOfOnesOwn() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        for request in [
            ImageRequest(.image(key: "gone") { throw CancellationError() }),
            ImageRequest(url, processors: [Processor(error: CancellationError())]),
        ] {
            await #expect(throws: CancellationError.self) { try await fixture.pipeline.image(for: request) }
        }
    }
}
