import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonProcessing
import HalcyonTesting
import TestSupport
import Testing

/// Requests are equal if a pipeline loads them in the same way.
@Suite struct ImageRequestTests {
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
        Change(testDescription: "coders") { $0.coders = CoderRegistry() },
        Change(testDescription: "scale") { $0.scale = 2 },
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
