import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FailureMemoryTests {
    private let clock = ManualClock()
    private let url = PipelineFixture.url("a")

    private func fixture(_ answers: ScriptedTransport.Answer...) throws -> PipelineFixture {
        let fixture = PipelineFixture(clock: clock.timeSource)
        let good = ScriptedTransport.Answer.data(try TestFiles.data("png/rgb8.png"))
        if let first = answers.first { fixture.transport.answer(url, with: first, good) }
        return fixture
    }

    private func error(_ fixture: PipelineFixture, _ request: ImageRequest? = nil) async -> ImagePipelineError? {
        await #expect(throws: ImagePipelineError.self) {
            try await fixture.pipeline.image(for: request ?? ImageRequest(url))
        }
    }

    private func isRemembered(_ error: ImagePipelineError?) -> Bool {
        if case .remembered? = error { true } else { false }
    }

    static let lasting: [(ScriptedTransport.Answer, String)] = [
        (.status(404), "httpStatus"), (.status(410), "httpStatus"), (.data(Data("no image".utf8)), "notAnImage"),
        (.failure(DownloadError(.tls("x"), url: PipelineFixture.url("a"))), "tls"),
    ]

    @Test(arguments: lasting)
    func aLastingFailureIsRememberedForAMinute(_ answer: ScriptedTransport.Answer, _ code: String) async throws {
        let fixture = try fixture(answer)
        let first = await error(fixture)
        #expect(!isRemembered(first))
        clock.advance(by: .seconds(59))
        let second = await error(fixture)
        #expect(isRemembered(second))
        #expect(second?.code == code)
        #expect(second?.reason == first?.reason)
        #expect(second?.source == first?.source)
        #expect(second.map { "\($0.failure)" } == first.map { "\($0)" })
        #expect(second.map { "\($0)" }?.hasSuffix("(remembered)") == true)
        #expect(fixture.transport.requestCount == 1)
        clock.advance(by: .seconds(1))
        _ = try await fixture.pipeline.image(for: url)
        #expect(fixture.transport.requestCount == 2)
    }

    static let passing: [ScriptedTransport.Answer] =
        [400, 401, 403, 408, 429, 500, 502, 503].map { .status($0) }
        + [
            DownloadError.Reason.offline, .timeout(.connect), .timeout(.idle), .timeout(.total),
            .connection(.hostNotFound), .connection(.refused), .connection(.reset), .tooLarge(limit: 1),
        ].map { .failure(DownloadError($0, url: PipelineFixture.url("a"))) }

    @Test(arguments: passing)
    func transientFailureIsNotRemembered(_ answer: ScriptedTransport.Answer) async throws {
        let fixture = try fixture(answer)
        var request = ImageRequest(url)
        request.network.retries = 0
        #expect(!isRemembered(await error(fixture, request)))
        _ = try await fixture.pipeline.image(for: request)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func cancelledLoadIsNotRemembered() async throws {
        let fixture = try fixture(.status(404).held(by: ScriptedTransportGate()))
        let task = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.response }
        _ = try await fixture.pipeline.image(for: url)
    }

    @Test(arguments: [
        ("max-age=600", 599, true), ("max-age=600", 600, false), ("max-age=5", 4, true), ("max-age=5", 5, false),
        ("max-age=0", 0, false), ("no-store", 0, false), ("no-cache", 0, false), ("public", 59, true),
    ])
    func cacheControlLimitsRememberedFailure(_ control: String, _ seconds: Int, _ isRemembered: Bool) async throws {
        let fixture = try fixture(.status(404, headers: ["Cache-Control": control]))
        _ = await error(fixture)
        clock.advance(by: .seconds(seconds))
        _ = try? await fixture.pipeline.image(for: url)
        #expect(fixture.transport.requestCount == (isRemembered ? 1 : 2))
    }

    @Test func rememberedFailureIsRetriedOnRequest() async throws {
        for change in [
            { (request: inout ImageRequest) in request.network.retriesFailures = true },
            { $0.cachePolicy.reads = [] },
            { $0.network.headers = ["Authorization": "x"] },
        ] {
            let fixture = try fixture(.status(404))
            _ = await error(fixture)
            var request = ImageRequest(url)
            change(&request)
            _ = try await fixture.pipeline.image(for: request)
            #expect(fixture.transport.requestCount == 2)
        }
    }

    @Test func successClearsRememberedFailure() async throws {
        let fixture = try fixture(.data(Data("no image".utf8)))
        _ = await error(fixture)
        #expect(fixture.pipeline.rememberedFailureCount == 1)
        var request = ImageRequest(url)
        request.network.retriesFailures = true
        _ = try await fixture.pipeline.image(for: request)
        #expect(fixture.pipeline.rememberedFailureCount == 0)
    }

    @Test func failuresAreForgottenOnDemand() async throws {
        let fixture = try fixture()
        let other = PipelineFixture.url("b?size=1")
        for url in [url, other] { _ = await error(fixture, ImageRequest(url)) }
        fixture.pipeline.forgetFailures(PipelineFixture.url("b?size=1#part"))
        for url in [url, other] { _ = await error(fixture, ImageRequest(url)) }
        #expect(fixture.transport.requests.map(\.url) == [url, other, other])
        fixture.pipeline.forgetFailures()
        for url in [url, other] { _ = await error(fixture, ImageRequest(url)) }
        #expect(fixture.transport.requestCount == 5)
    }

    /// Reads files that begin with a word, if it reads any.
    private struct WordDecoder: ImageDecoder {
        let formats = [ImageFormat("word", fileExtension: "word", mimeType: "image/x-word")]
        /// Called by `probe`, which fails then.
        var onFailure: (@Sendable () -> Void)?

        func canDecode(_ data: Data) -> Bool { data.starts(with: Data("word".utf8)) }

        func probe(_ data: Data) throws -> ImageInfo {
            if let onFailure {
                onFailure()
                throw CodecError.damaged(formats[0], reason: "it is not spelled well")
            }
            return ImageInfo(format: formats[0], size: PixelSize(1, 1))
        }

        func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
            try Bitmap(size: PixelSize(1, 1), isOpaque: true, pixels: [255, 255, 255, 255])
        }
    }

    /// Without a coder the bytes are no image; with one they are, at once.
    @Test func aNewCoderIsAskedAlsoAboutARememberedFailure() async throws {
        let coders = CoderRegistry.standard()
        let fixture = PipelineFixture(clock: clock.timeSource) { $0.coders = coders }
        fixture.transport.answer(url, with: .data(Data("word".utf8)))
        #expect(!isRemembered(await error(fixture)))
        #expect(isRemembered(await error(fixture)))
        let registration = coders.add(WordDecoder())
        #expect(try await fixture.pipeline.image(for: url).info.format.name == "word")
        #expect(fixture.pipeline.rememberedFailureCount == 0)
        #expect(fixture.transport.requestCount == 2)
        // A coder that is gone is a change as well, by either way.
        let other = PipelineFixture.url("other")
        coders.add(WordDecoder())
        fixture.transport.answer(other, with: .data(Data("nothing".utf8)))
        for change in [{ coders.remove(registration) }, { coders.removeAll { $0 is WordDecoder } }] as [() -> Void] {
            let count = fixture.transport.requestCount
            _ = await error(fixture, ImageRequest(other))
            #expect(isRemembered(await error(fixture, ImageRequest(other))))
            change()
            #expect(!isRemembered(await error(fixture, ImageRequest(other))))
            #expect(isRemembered(await error(fixture, ImageRequest(other))))
            #expect(fixture.transport.requestCount <= count + 2)
        }
        // Nothing is removed any more.
        coders.remove(registration)
        coders.removeAll { $0 is WordDecoder }
        #expect(isRemembered(await error(fixture, ImageRequest(other))))
    }

    @Test func failuresOfTransfersOutliveAChangeOfTheCoders() async throws {
        let coders = CoderRegistry.standard()
        let fixture = PipelineFixture(clock: clock.timeSource) { $0.coders = coders }
        #expect(!isRemembered(await error(fixture)))
        coders.add(WordDecoder())
        #expect(isRemembered(await error(fixture)))
    }

    /// The change comes when the coder was chosen already, and before its failure is remembered.
    @Test func aCoderThatComesDuringADecodeIsAskedNext() async throws {
        let coders = CoderRegistry.standard()
        let fixture = PipelineFixture(clock: clock.timeSource) { $0.coders = coders }
        fixture.transport.answer(url, with: .data(Data("word".utf8)))
        coders.add(WordDecoder(onFailure: { [weak coders] in coders?.add(WordDecoder()) }))
        #expect(await error(fixture)?.code == "damagedImage")
        #expect(try await fixture.pipeline.image(for: url).info.format.name == "word")
    }

    /// A request's own coders change by themselves.
    @Test func onlyTheRegistryOfARequestCounts() async throws {
        let own = CoderRegistry.standard()
        let fixture = PipelineFixture(clock: clock.timeSource)
        fixture.transport.answer(url, with: .data(Data("word".utf8)))
        var request = ImageRequest(url)
        request.coders = own
        _ = await error(fixture, request)
        fixture.pipeline.configuration.coders.add(WordDecoder())
        #expect(isRemembered(await error(fixture, request)))
        own.add(WordDecoder())
        #expect(try await fixture.pipeline.image(for: request).info.format.name == "word")
    }

    @Test func bytesThatAreNoImageAreStillToBeHad() async throws {
        let body = Data("no image".utf8)
        let fixture = try fixture()
        fixture.transport.answer(url, with: .data(body))
        _ = await error(fixture)
        #expect(try await fixture.pipeline.data(for: ImageRequest(url)) == body)
        #expect(isRemembered(await error(fixture)))
    }

    @Test func aRememberedFailureLeadsToTheAlternativesAtOnce() async throws {
        let fixture = try fixture(.status(404))
        _ = await error(fixture)
        var request = ImageRequest(url)
        request.alternatives = [.remote(try fixture.serve("png/rgb8.png"))]
        #expect(try await fixture.pipeline.response(for: request).source == request.alternatives[0])
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func failureMemoryCanBeDisabled() async throws {
        let fixture = PipelineFixture(clock: clock.timeSource) { $0.rememberedFailures = .none }
        fixture.transport.answer(url, with: .status(404, headers: ["Cache-Control": "max-age=600"]))
        for _ in 0..<2 { #expect(!isRemembered(await error(fixture))) }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func thePredicateAndTheDurationDecide() async throws {
        let fixture = PipelineFixture(clock: clock.timeSource) {
            $0.rememberedFailures.duration = .seconds(5)
            $0.rememberedFailures.isRemembered = { error in
                guard case .download(_, let error) = error else { return false }
                return error.reason == .httpStatus(503) || error.reason == .timeout(.idle)
            }
        }
        let idle = ScriptedTransport.Answer.failure(DownloadError(.timeout(.idle), url: url))
        for (answer, isKept) in [
            (.status(503), true), (idle, true), (.status(404), false), (.data(Data("no image".utf8)), false),
        ] as [(ScriptedTransport.Answer, Bool)] {
            fixture.pipeline.forgetFailures()
            fixture.transport.answer(url, with: answer)
            var request = ImageRequest(url)
            request.network.retries = 0
            #expect(!isRemembered(await error(fixture, request)))
            clock.advance(by: .milliseconds(4_999))
            #expect(isRemembered(await error(fixture, request)) == isKept)
            clock.advance(by: .milliseconds(1))
            #expect(!isRemembered(await error(fixture, request)))
        }
    }

    @Test func theServerLimitsEveryRememberedStatus() async throws {
        let fixture = PipelineFixture(clock: clock.timeSource) { $0.rememberedFailures.isRemembered = { _ in true } }
        for (control, isKept) in [("max-age=90", true), ("no-store", false)] {
            fixture.pipeline.forgetFailures()
            fixture.transport.answer(url, with: .status(403, headers: ["Cache-Control": control]))
            _ = await error(fixture)
            clock.advance(by: .seconds(isKept ? 89 : 0))
            #expect(isRemembered(await error(fixture)) == isKept)
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(-1), .zero])
    func absurdDurationsAreAYearOrNothing(_ duration: Duration) async {
        let fixture = PipelineFixture(clock: clock.timeSource) { $0.rememberedFailures.duration = duration }
        _ = await error(fixture)
        clock.advance(by: .seconds(86_400))
        #expect(isRemembered(await error(fixture)) == (duration > .zero))
        clock.advance(by: .seconds(366 * 86_400))
        #expect(!isRemembered(await error(fixture)))
    }

    @Test func rememberedFailuresAreLimited() async throws {
        let fixture = PipelineFixture(disk: false, clock: clock.timeSource)
        for index in 0..<1_200 { _ = try? await fixture.pipeline.image(for: PipelineFixture.url("\(index)")) }
        #expect((900...1_000).contains(fixture.pipeline.rememberedFailureCount))
        _ = try? await fixture.pipeline.image(for: PipelineFixture.url("1199"))
        #expect(fixture.transport.requestCount == 1_200)
    }

    /// Beyond a thousand, those that have ended go first, and then a tenth: the oldest.
    @Test func theOldestFailuresGoOnlyBeyondAThousand() async throws {
        let fixture = PipelineFixture(disk: false, clock: clock.timeSource)
        func fail(_ numbers: Range<Int>) async {
            for number in numbers { _ = try? await fixture.pipeline.image(for: PipelineFixture.url("\(number)")) }
        }
        _ = await error(fixture)
        clock.advance(by: .seconds(59))
        await fail(0..<100)
        // The first one of all ends at this moment, and stays while there is room.
        clock.advance(by: .seconds(1))
        await fail(100..<999)
        #expect(fixture.pipeline.rememberedFailureCount == 1_000)
        await fail(999..<1_000)
        #expect(fixture.pipeline.rememberedFailureCount == 1_000)
        await fail(1_000..<1_001)
        #expect(fixture.pipeline.rememberedFailureCount == 901)
        let count = fixture.transport.requestCount
        await fail(100..<101)
        await fail(1_000..<1_001)
        #expect(fixture.transport.requestCount == count)
        await fail(0..<1)
        await fail(99..<100)
        #expect(fixture.transport.requestCount == count + 2)
    }
}
