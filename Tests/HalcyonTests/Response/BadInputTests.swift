import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Each kind of bad input ends in its own typed error, and nothing of it is stored.
@Suite struct BadInputTests {
    @Test(arguments: [
        ("bad/zero-bytes.jpg", "notAnImage"), ("bad/page.html", "notAnImage"), ("bad/text.txt", "notAnImage"),
        ("bad/movie.mp4", "notAnImage"), ("bad/heic-header.heic", "damagedImage"),
        ("bad/truncated.jpg", "damagedImage"), ("bad/truncated.png", "damagedImage"),
        ("bad/truncated.gif", "damagedImage"), ("bad/truncated.webp", "damagedImage"),
        ("bad/bomb-60000x60000.png", "limitExceeded"),
        ("bad/bomb-jpeg-65000x65000.jpg", "limitExceeded"),
    ])
    func badBodies(file: String, code: String) async throws {
        let fixture = PipelineFixture()
        // The server lies about the type as well: only the content counts.
        let url = try fixture.serve(file, headers: ["Content-Type": "image/jpeg"])
        var request = ImageRequest(url)
        request.network.retriesFailures = true
        for attempt in 1...2 {
            await #expect {
                try await fixture.pipeline.response(for: request)
            } throws: { error in
                guard let error = error as? ImagePipelineError else { return false }
                return error.code == code && error.description.hasPrefix("http://images.test/\(file): ")
            }
            #expect(fixture.transport.requestCount == attempt)
        }
        #expect(await fixture.diskEntries() == 0)
        #expect(fixture.pipeline.configuration.cache.image(inMemoryFor: request) == nil)
    }

    /// Bytes that have proved not to be an image are not used for a new load, even if another load still holds them.
    @Test func aRejectedBodyIsFetchedAnew() async throws {
        let fixture = PipelineFixture()
        let decoder = HeldDecoder(holding: .plan)
        var held = ImageRequest(try fixture.serve("bad/truncated.png"))
        held.coders = CoderRegistry([decoder])
        held.network.retriesFailures = true
        let first = fixture.pipeline.task(for: held)
        try await decoder.hasCome.wait()
        var request = held
        // Another coder of the same formats: the server is asked for the same.
        request.coders = CoderRegistry([HeldDecoder(holding: .preview)])
        for count in [1, 2] {
            await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
            #expect(fixture.transport.requestCount == count)
        }
        decoder.release()
        await #expect(throws: ImagePipelineError.self) { try await first.response }
    }

    @Test func anImageUnderAWrongContentTypeIsStillAnImage() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Content-Type": "text/html"])
        #expect(try await fixture.pipeline.image(for: url).info.format == .png)
    }

    @Test func aBodyOverTheLimitIsRefused() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        var request = ImageRequest(url)
        request.network.maximumBytes = 100
        await #expect {
            try await fixture.pipeline.response(for: request)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "tooLarge"
        }
        #expect(await fixture.diskEntries() == 0)
    }

    @Test(arguments: [
        ("", "invalidRequest"), ("ftp://a/b.png", "invalidRequest"), ("nothing", "invalidRequest"),
        ("http://", "invalidRequest"), ("data:image/png", "badSource"), ("data:;base64,%%%", "badSource"),
        ("data:;base64,!", "badSource"), ("data:,hello", "notAnImage"), ("file:///nowhere/at/all.png", "badSource"),
        ("file:///", "badSource"), ("file:///dev/null", "badSource"),
    ])
    func badSources(text: String, code: String) async throws {
        let fixture = PipelineFixture()
        await #expect {
            try await fixture.pipeline.response(for: ImageRequest(ImageSource(string: text)))
        } throws: {
            ($0 as? ImagePipelineError)?.code == code
        }
    }

    @Test func noURLAtAllIsAnError() async throws {
        let fixture = PipelineFixture()
        await #expect {
            try await fixture.pipeline.image(for: nil as URL?)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "invalidRequest"
        }
    }

    @Test func errorsDoNotTellSecrets() async throws {
        let fixture = PipelineFixture()
        let url = try #require(URL(string: "http://user:word@images.test/a.png?token=secret#part"))
        do {
            _ = try await fixture.pipeline.image(for: url)
            Issue.record("there is nothing to load")
        } catch {
            #expect("\(error)".contains("images.test/a.png"))
            for secret in ["user", "word", "token", "secret"] { #expect(!"\(error)".contains(secret)) }
        }
    }

    @Test func aFailedProcessorIsAnErrorAndIsNotStored() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url, processors: [FailingProcessor()])
        await #expect {
            try await fixture.pipeline.response(for: request)
        } throws: { error in
            guard case .processing(_, let own)? = error as? ImagePipelineError else { return false }
            return own is FailingProcessor.Failure && "\(own)" == "it does not want to"
        }
        #expect(fixture.pipeline.configuration.cache.image(inMemoryFor: request) == nil)
        // The original did decode, so it is worth keeping.
        #expect(await fixture.diskEntries() == 1)
    }

    @Test func aParameterThatIsNoNumberLeavesNoJobBehind() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        for _ in 0..<5 {
            let request = ImageRequest(url, processors: [.roundCorners(radius: .nan)])
            await #expect {
                try await fixture.pipeline.response(for: request)
            } throws: {
                ($0 as? ImagePipelineError)?.code == "processing"
            }
        }
        #expect(await fixture.pipeline.jobCount == 0)
    }

    @Test(arguments: [PixelSize(0, 5), PixelSize(5, -1), PixelSize(1 << 40, 5)])
    func absurdResizesFailBeforeAnythingIsFetched(size: PixelSize) async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        await #expect {
            try await fixture.pipeline.response(for: ImageRequest(url, processors: [.resize(to: size)]))
        } throws: {
            ($0 as? ImagePipelineError)?.code == "processing"
        }
        #expect(fixture.transport.requestCount == 0)
    }
}
