import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Providers that a pipeline asks for each URL.
@Suite(.timeLimit(.minutes(5))) struct ProviderListTests {
    private struct Shelf: ImageDataProvider {
        let name: String
        let url: URL
        var calls = Counter()

        var cacheKey: String { "\(name) \(url.absoluteString)" }

        func data() async throws -> Data {
            calls.increment()
            return try TestFiles.data(name)
        }
    }

    private func pipeline(_ providers: [@Sendable (URL) -> (any ImageDataProvider)?]) -> PipelineFixture {
        PipelineFixture { $0.providers = providers }
    }

    @Test func theLastOneThatKnowsTheURLCounts() async throws {
        let fixture = pipeline([
            { Shelf(name: "png/rgb8.png", url: $0) },
            { $0.host() == "gray" ? Shelf(name: "jpeg/gray.jpg", url: $0) : nil },
            { _ in nil },
        ])
        let gray = try await fixture.pipeline.response(for: ImageRequest(.init(string: "book://gray/1")))
        #expect(gray.image.info.format == .jpeg)
        #expect(gray.origin == .provider)
        let other = try await fixture.pipeline.response(for: ImageRequest(.init(string: "book://other/1")))
        #expect(other.image.info.format == .png)
        // The program's word comes before the downloader's and the file system's.
        for text in ["https://gray/1", "file:///gray/1"] {
            #expect(try await fixture.pipeline.response(for: ImageRequest(.init(string: text))).origin == .provider)
        }
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func everyWayToAskGoesByThem() async throws {
        let calls = Counter()
        let fixture = pipeline([{ Shelf(name: "png/rgb8.png", url: $0, calls: calls) }])
        let request = ImageRequest(.init(string: "book://shelf/1"))
        #expect(try await fixture.pipeline.image(for: request).info.format == .png)
        #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        #expect(calls.value == 1)
        #expect(try await !fixture.pipeline.encodedImage(for: request, as: .jpeg(quality: 0.8)).data.isEmpty)
        let prefetcher = ImagePrefetcher(
            [ImageRequest(.init(string: "book://shelf/2"))], pipeline: fixture.pipeline, destination: .memory)
        #expect(await prefetcher.run().finished.count == 1)
        // The providers are also asked for an alternative source.
        var broken = ImageRequest(.data(Data([1, 2, 3]), key: "broken"))
        broken.alternatives = [.init(string: "book://shelf/3")]
        #expect(try await fixture.pipeline.image(for: broken).info.format == .png)
    }

    @Test func otherURLsAreLoadedAsIfThereWereNone() async throws {
        let asked = Counter()
        let fixture = pipeline([
            { _ in
                asked.increment()
                return nil
            }
        ])
        let data = try TestFiles.data("png/rgb8.png")
        #expect(try await fixture.pipeline.response(for: ImageRequest(.data(data, key: "a"))).origin != .provider)
        // Bytes have no URL, so the providers are not called for them.
        #expect(asked.value == 0)
        for source in [ImageSource(string: "book://shelf/1"), .init(string: "shelf"), .init(string: "")] {
            await #expect {
                try await fixture.pipeline.image(for: ImageRequest(source))
            } throws: {
                ($0 as? ImagePipelineError)?.code == "invalidRequest"
            }
        }
        #expect(asked.value == 1)
    }
}
