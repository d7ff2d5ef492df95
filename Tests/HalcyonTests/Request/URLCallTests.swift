import Foundation
import Halcyon
import TestSupport
import Testing

/// Calls with a URL in place of a request.
@Suite struct URLCallTests {
    @Test func aURLIsLoadedAsItsRequestIs() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let pipeline = fixture.pipeline
        #expect(try await pipeline.response(for: url).origin == .network)
        #expect(try await pipeline.task(for: url).response.origin == .memory)
        #expect(try await pipeline.data(for: url) == TestFiles.data("png/rgb8.png"))
        var origins: [ImageOrigin] = []
        for try await case .finished(let response) in pipeline.events(for: url) { origins.append(response.origin) }
        let loaded = try await withCheckedThrowingContinuation { continuation in
            pipeline.load(url, callbackQueue: .mainOrInline) { continuation.resume(with: $0) }
        }
        #expect(origins + [loaded.origin] == [.memory, .memory])
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func nilFailsInEveryCall() async throws {
        let pipeline = PipelineFixture(disk: false).pipeline
        let invalid = await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: nil) }
        guard case .invalidRequest = invalid else {
            Issue.record("\(String(describing: invalid))")
            return
        }
        await #expect(throws: ImagePipelineError.self) { try await pipeline.response(for: nil) }
        await #expect(throws: ImagePipelineError.self) { try await pipeline.data(for: nil) }
        await #expect(throws: ImagePipelineError.self) { try await pipeline.task(for: nil).response }
        await #expect(throws: ImagePipelineError.self) { for try await _ in pipeline.events(for: nil) {} }
        await #expect(throws: ImagePipelineError.self) {
            try await withCheckedThrowingContinuation { continuation in
                pipeline.load(nil, callbackQueue: .mainOrInline) { continuation.resume(with: $0) }
            }
        }
    }

    @Test func aPrefetcherTakesURLs() async throws {
        let fixture = PipelineFixture()
        let urls = [try fixture.serve("png/rgb8.png"), try fixture.serve("jpeg/gray.jpg")]
        let outcome = await ImagePrefetcher(urls, pipeline: fixture.pipeline, destination: .memory).run()
        #expect(outcome.finished == urls.map { ImageRequest($0) })
        for url in urls { #expect(fixture.pipeline.cache.image(inMemoryFor: url) != nil) }
        // No URL and no request.
        #expect(await ImagePrefetcher([], pipeline: fixture.pipeline).run().finished.isEmpty)
    }
}
