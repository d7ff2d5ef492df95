import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonProcessing
import HalcyonTesting
import TestSupport
import Testing

/// Requests are equal if a pipeline loads them in the same way.
@Suite struct ImageRequestTests {
    private static let registry = CoderRegistry()
    private static let url = URL(string: "http://images.test/a")

    /// A change to one property, which makes another request.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (inout ImageRequest) -> Void
    }

    static let changes = [
        Change(testDescription: "source") { $0.source = ImageSource(string: "http://images.test/b") },
        Change(testDescription: "alternatives") { $0.alternatives = [ImageSource(url)] },
        Change(testDescription: "lowDataAlternative") { $0.lowDataAlternative = ImageSource(url) },
        Change(testDescription: "decode") { $0.decode.firstFrameOnly = true },
        Change(testDescription: "processors") { $0.processors = [.flip(.vertical)] },
        Change(testDescription: "cachePolicy") { $0.cachePolicy.diskExpiration = .days(1) },
        Change(testDescription: "cacheKey") { $0.cacheKey = "a" },
        Change(testDescription: "serializer") { $0.serializer = FixedFormatCacheSerializer.png },
        Change(testDescription: "targetCache") { $0.targetCache = ImageCache(disk: nil) },
        Change(testDescription: "originalCache") { $0.originalCache = ImageCache(disk: nil) },
        Change(testDescription: "network") { $0.network.retries = 7 },
        Change(testDescription: "priority") { $0.priority = .high },
        Change(testDescription: "wantsPreviews") { $0.wantsPreviews = true },
        Change(testDescription: "wantsEveryPreview") { $0.wantsEveryPreview = true },
        Change(testDescription: "coders") { $0.coders = registry },
        Change(testDescription: "scale") { $0.scale = 2 },
        Change(testDescription: "progressStep") { $0.progressStep = ProgressStep(fraction: 0.1) },
        Change(testDescription: "modifier") { $0.modifier = .template },
    ]

    @Test func everyPropertyHasAChange() {
        // The record of the given options is seen through the options.
        let names = Mirror(reflecting: ImageRequest(Self.url)).children.compactMap(\.label).filter { $0 != "given" }
        #expect(Set(names) == Set(Self.changes.map(\.testDescription)))
    }

    @Test(arguments: changes) func onePropertyMakesAnotherRequest(_ change: Change) {
        let request = ImageRequest(Self.url, processors: [.flip(.horizontal)])
        var changed = request
        change.make(&changed)
        #expect(changed != request)
        #expect(changed == changed)
        #expect(ImageRequest(Self.url, processors: [.flip(.horizontal)]) == request)
    }

    @Test(arguments: changes) func aChangeOfACopyLeavesTheOther(_ change: Change) {
        let request = ImageRequest(Self.url)
        let cache = ImageCache(disk: nil)
        // From here on the copies share a key.
        let key = cache.key(for: request)
        var copy = request
        change.make(&copy)
        #expect(request == ImageRequest(Self.url) && cache.key(for: request) == key)
        var fresh = ImageRequest(Self.url)
        change.make(&fresh)
        #expect(cache.key(for: copy) == cache.key(for: fresh))
    }

    @Test func aFileThatChangesHasAnotherKeyInTheSameRequest() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "a.png")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data("one".utf8).write(to: file)
        let (request, cache) = (ImageRequest(file), ImageCache(disk: nil))
        let key = cache.key(for: request)
        try Data("another".utf8).write(to: file)
        #expect(cache.key(for: request) != key)
    }

    @Test(arguments: [
        "http://images.test/a", "HTTPS://images.test/a", "http://images.test/a#top", "http://images.test/a?b=c#d#e",
        "http://me:secret@images.test/a", "http://@images.test/a", "http://images.test/photo@2x.png",
        "http://images.test/%40", "http://images.test:8080/", "http://[::1]/a", "http://1.2.3.4?a@b", "http:///a",
        "http://",
        "http://%31/a", "http://-a/", "http://ä.test/ü", "ftp://images.test/a", "http:a", "//images.test/a",
    ])
    func aURLHasTheKeyOfItsRequest(_ text: String) throws {
        let url = try #require(URL(string: text))
        let (cache, filtering) = (
            ImageCache(disk: nil), ImageCache(disk: nil, keyFilter: CacheKeyFilter { $0.absoluteString + "!" })
        )
        let key = cache.key(for: url)
        #expect(key == cache.key(for: ImageRequest(url)))
        #expect(filtering.key(for: url) == filtering.key(for: ImageRequest(url)))
        // Fields that name no user make the key in another way.
        #expect(key == cache.key(for: ImageRequest(url, network: NetworkOptions(headers: ["Accept": "image/*"]))))
        #expect(!"\(key.source)".contains("secret"))
        if case .remote = ImageSource(url) {
            #expect(url.host()?.isEmpty == false && ["http", "https"].contains(url.scheme?.lowercased()))
        }
    }

    @Test func anOptionThatWasGivenIsAnotherRequest() {
        // A pipeline's defaults apply to one of them alone.
        #expect(ImageRequest(Self.url, cachePolicy: .default) != ImageRequest(Self.url))
    }

    @Test func equalValuesAreEqualWhereverTheyWereMade() {
        func request() -> ImageRequest {
            var request = ImageRequest(Self.url, processors: [.blur(radius: .nan), .resize(to: PixelSize(3, 4))])
            request.serializer = FixedFormatCacheSerializer.jpeg(quality: 0.5)
            request.modifier = .template.appending(.scale(2))
            return request
        }
        #expect(request() == request())
    }

    @Test func modifiersAreEqualIfTheirChangesAre() {
        let custom = ImageModifier { $0 }
        let copy = custom
        #expect(custom == copy && custom.hashValue == copy.hashValue)
        #expect(custom != ImageModifier { $0 })
        #expect(ImageModifier.scale(2) == .scale(2) && ImageModifier.scale(2) != .scale(3))
        #expect(ImageModifier.template.appending(custom) == .template.appending(copy))
        #expect(ImageModifier.template.appending(.scale(2)) != .scale(2).appending(.template))
    }

    @Test func theSharedPipelineCanBeReplaced() {
        let former = ImagePipeline.shared
        #expect(ImagePipeline.shared === former)
        let own = ImagePipeline(configuration: .init(cache: ImageCache(disk: nil)))
        ImagePipeline.shared = own
        #expect(ImagePipeline.shared === own)
        ImagePipeline.shared = former
        #expect(ImagePipeline.shared === former)
    }
}
