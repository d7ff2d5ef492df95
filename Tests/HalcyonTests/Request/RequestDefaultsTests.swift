import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// A pipeline's defaults apply where a request sets nothing; the later value wins.
@Suite(.timeLimit(.minutes(5)))
struct RequestDefaultsTests {
    private static let other = ImageSource(string: "http://images.test/other")

    /// One option, with its value in the defaults and in a request, as text.
    struct Option: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let own: String
        let setDefault: @Sendable (inout RequestDefaults) -> Void
        let defaulted: String
        /// Sets the value that the request has by default anyway.
        let give: @Sendable (inout ImageRequest) -> Void
        let read: @Sendable (ImageRequest) -> String
    }

    static let options = [
        Option(
            testDescription: "processors", own: "0", setDefault: { $0.processors = [.flip(.vertical)] },
            defaulted: "1", give: { $0.processors = [] }, read: { "\($0.processors.count)" }),
        Option(
            testDescription: "decode", own: "nil",
            setDefault: { $0.decode = DecodeOptions(target: TargetSize(PixelSize(4, 4))) }, defaulted: "set",
            give: { $0.decode = DecodeOptions() }, read: { $0.decode.target == nil ? "nil" : "set" }),
        Option(
            testDescription: "cachePolicy", own: "true", setDefault: { $0.cachePolicy = .noStore }, defaulted: "false",
            give: { $0.cachePolicy = .default }, read: { "\($0.cachePolicy == .default)" }),
        Option(
            testDescription: "priority", own: "normal", setDefault: { $0.priority = .low }, defaulted: "low",
            give: { $0.priority = .normal }, read: { "\($0.priority)" }),
        Option(
            testDescription: "alternatives", own: "0", setDefault: { $0.alternatives = [other] }, defaulted: "1",
            give: { $0.alternatives = [] }, read: { "\($0.alternatives.count)" }),
        Option(
            testDescription: "wantsPreviews", own: "false", setDefault: { $0.wantsPreviews = true },
            defaulted: "true", give: { $0.wantsPreviews = false }, read: { "\($0.wantsPreviews)" }),
        Option(
            testDescription: "wantsEveryPreview", own: "false", setDefault: { $0.wantsEveryPreview = true },
            defaulted: "true", give: { $0.wantsEveryPreview = false }, read: { "\($0.wantsEveryPreview)" }),
        Option(
            testDescription: "scale", own: "nil", setDefault: { $0.scale = 2 }, defaulted: "2.0",
            give: { $0.scale = 1 }, read: { $0.scale.map { "\($0)" } ?? "nil" }),
    ]

    /// Returns the value that a pipeline gives a request, as its task reports it.
    private func seen(
        _ option: Option, _ request: ImageRequest, hasDefault: Bool,
        modifier: @escaping @Sendable (ImageRequest) -> ImageRequest = { $0 }
    ) async -> String {
        let fixture = PipelineFixture(disk: false) {
            if hasDefault { option.setDefault(&$0.defaults) }
            $0.requestModifier = modifier
        }
        let task = fixture.pipeline.task(for: request)
        _ = try? await task.response
        return option.read(task.request)
    }

    @Test(arguments: options)
    func laterSettingOverridesEarlierOne(_ option: Option) async {
        let request = ImageRequest(PipelineFixture.url("a"))
        #expect(await seen(option, request, hasDefault: false) == option.own)
        #expect(await seen(option, request, hasDefault: true) == option.defaulted)
        var given = request
        option.give(&given)
        let asGiven = option.read(given)
        #expect(await seen(option, given, hasDefault: true) == asGiven)
        // The modifier sees the default, and has the last word.
        let heard = Lock("")
        let last = await seen(option, request, hasDefault: true) { request in
            heard.withLock { $0 = option.read(request) }
            var request = request
            option.give(&request)
            return request
        }
        #expect(heard.withLock { $0 } == option.defaulted)
        #expect(last == asGiven)
    }

    @Test func aRequestThatSetsNothingHasTheseValues() {
        let request = ImageRequest(PipelineFixture.url("a"))
        #expect(request.processors.isEmpty)
        #expect(request.decode == DecodeOptions())
        #expect(request.decode.target == nil && !request.decode.firstFrameOnly)
        #expect(request.cachePolicy == .default)
        #expect(request.cacheKey == nil && request.serializer == nil)
        #expect(request.targetCache == nil && request.originalCache == nil)
        #expect(request.alternatives.isEmpty && request.lowDataAlternative == nil)
        #expect(request.network == NetworkOptions())
        #expect(request.priority == .normal)
        #expect(!request.wantsPreviews && !request.wantsEveryPreview)
        #expect(request.coders == nil && request.modifier == nil && request.progressStep == nil)
        // Unless the pipeline's defaults have another scale, it is 1.
        #expect(request.scale == nil)
    }

    @Test func initializerArgumentsOverrideDefaults() {
        var defaults = RequestDefaults()
        for option in Self.options { option.setDefault(&defaults) }
        let url = PipelineFixture.url("a")
        let given = defaults.applied(
            to: ImageRequest(url, processors: [], decode: DecodeOptions(), cachePolicy: .default, priority: .normal))
        #expect(given.processors.isEmpty)
        #expect(given.decode == DecodeOptions())
        #expect(given.cachePolicy == .default)
        #expect(given.priority == .normal)
        let silent = defaults.applied(to: ImageRequest(url))
        for option in Self.options { #expect(option.read(silent) == option.defaulted) }
        // Doing it again, with others, changes nothing.
        var others = RequestDefaults()
        others.cachePolicy = .reload
        #expect(others.applied(to: silent).cachePolicy == .noStore)
        #expect(RequestDefaults().applied(to: ImageRequest(url)).cachePolicy == .default)
    }

    /// A request that sets a size must not lift the limits of a server.
    @Test func limitsAreApartFromOtherDecodeOptions() async throws {
        let fixture = PipelineFixture {
            $0.defaults.decode = DecodeOptions(limits: DecodeLimits(maximumSourcePixels: 100))
        }
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url)
        request.decode.target = TargetSize(PixelSize(4, 4))
        for request in [ImageRequest(url), request, ImageRequest(url, decode: DecodeOptions(firstFrameOnly: true))] {
            let error = await #expect(throws: ImagePipelineError.self) {
                try await fixture.pipeline.image(for: request)
            }
            #expect(error?.code == "limitExceeded")
        }
        // Another limit of its own lifts none.
        request.decode.limits.maximumSide = 4000
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
        // Its own limits count, whether they are lower or higher.
        request.decode.limits.maximumSourcePixels = 1 << 20
        #expect(try await fixture.pipeline.image(for: request).size == PixelSize(4, 3))
    }

    @Test func loadAndCachesUseDefaults() async throws {
        var stored = CachePolicy.storeProcessed
        stored.waitsForStore = true
        let fixture = PipelineFixture { [stored] in
            $0.defaults.processors = [.crop(to: PixelSize(5, 4))]
            $0.defaults.cachePolicy = stored
        }
        let url = try fixture.serve("png/rgb8.png")
        #expect(try await fixture.pipeline.image(for: url).size == PixelSize(5, 4))
        #expect(await fixture.diskEntries() == 2)
        let request = ImageRequest(url)
        #expect(fixture.pipeline.cache.image(inMemoryFor: request) == nil)
        let filled = fixture.pipeline.configuration.defaults.applied(to: request)
        #expect(fixture.pipeline.cache.image(inMemoryFor: filled)?.size == PixelSize(5, 4))
        // A request for the unprocessed image sets that explicitly.
        let whole = try await fixture.pipeline.image(for: ImageRequest(url, processors: []))
        #expect(whole.size != PixelSize(5, 4))
        #expect(try await fixture.pipeline.encodedImage(for: request, as: .png).size == PixelSize(5, 4))
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func anAlternativeOfThePipelineStandsInForAnySource() async throws {
        let data = try TestFiles.data("png/rgb8.png")
        let fixture = PipelineFixture { $0.defaults.alternatives = [.data(data, key: "nothing here")] }
        let response = try await fixture.pipeline.response(for: ImageRequest(PipelineFixture.url("none")))
        #expect(response.source == .data(data, key: "nothing here"))
    }
}
