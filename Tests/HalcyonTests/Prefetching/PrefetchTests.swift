import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Images that are loaded into the caches before they are requested.
@Suite(.timeLimit(.minutes(5))) struct PrefetchTests {
    private typealias Progress = ImagePrefetcher.Progress

    /// URLs of their own that all answer with one small image.
    private func serve(_ count: Int, on fixture: PipelineFixture, gate: ScriptedTransportGate? = nil) throws -> [URL] {
        var answer = ScriptedTransport.Answer.data(try TestFiles.data("png/rgb8.png"))
        answer.headGate = gate
        return (0..<count).map { index in
            let url = PipelineFixture.url("\(index).png")
            fixture.transport.answer(url, with: answer)
            return url
        }
    }

    private func urls(_ requests: [ImageRequest]) -> [ImageSource] { requests.map(\.source) }

    @Test func bytesComeToTheDiskWithoutADecode() async throws {
        let fixture = PipelineFixture()
        let urls = try serve(12, on: fixture)
        let outcome = await ImagePrefetcher(urls.map { ImageRequest($0) }, pipeline: fixture.pipeline).run()
        #expect(self.urls(outcome.finished) == urls.map { .remote($0) })
        #expect(outcome.skipped.isEmpty && outcome.failed.isEmpty && outcome.notStarted.isEmpty)
        #expect(fixture.decodes.value == 0)
        #expect(await fixture.diskEntries() == 12)
        #expect(try await fixture.pipeline.response(for: ImageRequest(urls[3])).origin == .disk)
        #expect(fixture.transport.requestCount == 12)
        #expect(await fixture.pipeline.jobCount == 0)
    }

    @Test func cachedImagesAreSkippedByPrefetch() async throws {
        let fixture = PipelineFixture()
        let urls = try serve(6, on: fixture)
        for url in urls[..<3] { _ = try await fixture.pipeline.image(for: url) }
        let requests = urls.map { ImageRequest($0) }
        let outcome = await ImagePrefetcher(requests, pipeline: fixture.pipeline).run()
        #expect(self.urls(outcome.skipped) == urls[..<3].map { .remote($0) })
        #expect(self.urls(outcome.finished) == urls[3...].map { .remote($0) })
        #expect(fixture.transport.requestCount == 6)
        // For memory only what is in memory is there; the rest comes from the disk.
        let again = await ImagePrefetcher(requests, pipeline: fixture.pipeline, destination: .memory).run()
        #expect(self.urls(again.skipped) == urls[..<3].map { .remote($0) })
        #expect(self.urls(again.finished) == urls[3...].map { .remote($0) })
        #expect(fixture.transport.requestCount == 6)
        for request in requests {
            #expect(try await fixture.pipeline.response(for: request).origin == .memory)
        }
    }

    @Test func memoryGetsTheFinishedImage() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let runs = Counter()
        let request = ImageRequest(
            url, processors: [.resize(to: PixelSize(6, 4), mode: .stretch), CountingProcessor("a", runs: runs)])
        let outcome = await ImagePrefetcher([request], pipeline: fixture.pipeline, destination: .memory).run()
        #expect(outcome.finished.count == 1)
        let response = try await fixture.pipeline.response(for: request)
        #expect(response.origin == .memory)
        #expect(response.image.size == PixelSize(6, 4))
        #expect(runs.value == 1)
    }

    @Test func aPolicyThatKeepsFinishedImagesOnTheDiskGetsThemThere() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(
            url, processors: [.resize(to: PixelSize(6, 4), mode: .stretch)], cachePolicy: .storeProcessed)
        let first = await ImagePrefetcher([request], pipeline: fixture.pipeline).run()
        #expect(first.finished.count == 1)
        #expect(await fixture.diskEntries() == 2)
        #expect(fixture.pipeline.cache.image(inMemoryFor: request) == nil)
        let second = await ImagePrefetcher([request], pipeline: fixture.pipeline).run()
        #expect(second.skipped.count == 1)
        #expect(fixture.decodes.value == 1)
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
    }

    @Test func anExpiredEntryIsAskedForAgainAndAReloadAlways() async throws {
        let fixture = PipelineFixture()
        let stale = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "max-age=0"])
        let fresh = try fixture.serve("jpeg/gray.jpg")
        let requests = [ImageRequest(stale), ImageRequest(fresh)]
        _ = await ImagePrefetcher(requests, pipeline: fixture.pipeline).run()
        let second = await ImagePrefetcher(requests, pipeline: fixture.pipeline).run()
        #expect(urls(second.finished) == [.remote(stale)])
        #expect(urls(second.skipped) == [.remote(fresh)])
        let reload = await ImagePrefetcher([ImageRequest(fresh, cachePolicy: .reload)], pipeline: fixture.pipeline)
            .run()
        #expect(reload.finished.count == 1)
        #expect(fixture.transport.requests(for: fresh).count == 2)
    }

    @Test func failedPrefetchIsReportedAndOthersContinue() async throws {
        let fixture = PipelineFixture()
        let good = try fixture.serve("png/rgb8.png")
        let text = PipelineFixture.url("text")
        fixture.transport.answer(text, with: .data(Data("no image".utf8)))
        let secret = PipelineFixture.url("secret")
        fixture.transport.answer(
            secret, with: .data(try TestFiles.data("png/rgb8.png"), headers: ["Cache-Control": "no-store"]))
        let requests = [
            ImageRequest(PipelineFixture.url("missing")), ImageRequest(text), ImageRequest(secret),
            ImageRequest(nil as URL?), ImageRequest(good, cachePolicy: .onlyIfCached), ImageRequest(good),
        ]
        let outcome = await ImagePrefetcher(requests, pipeline: fixture.pipeline, concurrency: 1).run()
        let codes = outcome.failed.map { failure -> String in
            if failure.error is ImagePrefetchError { return "notKept" }
            return (failure.error as? ImagePipelineError)?.code ?? "?"
        }
        #expect(codes == ["httpStatus", "notAnImage", "notKept", "invalidRequest", "notInCache"])
        #expect(urls(outcome.finished) == [.remote(good)])
        #expect(await fixture.diskEntries() == 1)
    }

    @Test func sourcesNotKeptOnDiskAreSkipped() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let local = [
            ImageRequest(TestFiles.url("png/rgb8.png"), processors: [.flip(.vertical)]), ImageRequest(.base64("abcd")),
            ImageRequest(url, cachePolicy: .memoryOnly),
        ]
        let outcome = await ImagePrefetcher(local, pipeline: fixture.pipeline).run()
        #expect(outcome.skipped.count == 3)
        let diskless = PipelineFixture(disk: false)
        #expect(await ImagePrefetcher([ImageRequest(url)], pipeline: diskless.pipeline).run().skipped.count == 1)
        #expect(fixture.transport.requestCount + diskless.transport.requestCount == 0)
        // Memory keeps any source.
        let memory = await ImagePrefetcher([local[0]], pipeline: fixture.pipeline, destination: .memory).run()
        #expect(memory.finished.count == 1)
    }

    @Test func anySourceComesToTheDiskWhereThePolicyKeepsIt() async throws {
        struct Shelf: ImageDataProvider {
            let cacheKey = "shelf"
            let calls: Counter

            func data() async throws -> Data {
                calls.increment()
                return try TestFiles.data("png/rgb8.png")
            }
        }
        let (fixture, calls, data) = (PipelineFixture(), Counter(), try TestFiles.data("png/rgb8.png"))
        let made = ImageSource.image(key: "made") {
            calls.increment()
            return try Image(data: TestFiles.data("png/rgb8.png"))
        }
        let providers = [ImageRequest(.provider(Shelf(calls: calls))), ImageRequest(made)]
        let first = await ImagePrefetcher(providers, pipeline: fixture.pipeline).run()
        #expect(first.finished.count == 2 && calls.value == 2 && fixture.decodes.value == 0)
        #expect(await fixture.diskEntries() == 2)

        let sources = [
            providers[0].source, made, .file(TestFiles.url("png/rgb8.png")), .data(data, key: "data"),
            ImageSource(string: "data:;base64," + data.base64EncodedString()), .base64(data.base64EncodedString()),
        ]
        let finished = sources.map {
            ImageRequest($0, processors: [.flip(.vertical)], cachePolicy: .storeProcessed)
        }
        let second = await ImagePrefetcher(finished, pipeline: fixture.pipeline).run()
        #expect(second.finished.count == 6 && second.failed.isEmpty)
        // The next run has all of them.
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        let next = PipelineFixture(folder: fixture.folder)
        #expect(await ImagePrefetcher(providers + finished, pipeline: next.pipeline).run().skipped.count == 8)
        #expect(await next.diskEntries() == 8)
        let memory = await ImagePrefetcher(finished, pipeline: next.pipeline, destination: .memory).run()
        #expect(memory.finished.count == 6 && next.decodes.value == 0)
        for request in finished { #expect(next.pipeline.cache.image(inMemoryFor: request) != nil) }
        #expect(calls.value == 2)
        // The folder goes with it.
        withExtendedLifetime(fixture) {}
    }

    @Test func anEmptyListEndsAtOnceWithZeros() async throws {
        let fixture = PipelineFixture()
        let prefetcher = ImagePrefetcher([], pipeline: fixture.pipeline)
        prefetcher.start()
        var told: [Progress] = []
        for await progress in prefetcher.progress { told.append(progress) }
        #expect(told == [Progress(total: 0)])
        let outcome = try await prefetcher.outcome
        #expect(outcome.finished.isEmpty && outcome.skipped.isEmpty && outcome.failed.isEmpty)
        #expect(outcome.notStarted.isEmpty)
    }

    @Test func progressIsToldAfterEach() async throws {
        let fixture = PipelineFixture()
        let urls = try serve(2, on: fixture)
        _ = try await fixture.pipeline.image(for: urls[0])
        let requests = [ImageRequest(urls[0]), ImageRequest(urls[1]), ImageRequest(PipelineFixture.url("missing"))]
        let prefetcher = ImagePrefetcher(requests, pipeline: fixture.pipeline, concurrency: 1)
        let progress = prefetcher.progress
        prefetcher.start()
        prefetcher.start()
        var told: [Progress] = []
        for await step in progress { told.append(step) }
        let expected = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 1, 1)].map { skipped, failed, completed in
            Progress(skipped: skipped, failed: failed, completed: completed, total: 3)
        }
        #expect(told == expected)
        // A late reader receives the end.
        var late: [Progress] = []
        for await step in prefetcher.progress { late.append(step) }
        #expect(late == [expected[3]])
    }

    @Test(arguments: [1, 3, 5]) func prefetchHonoursConcurrency(concurrency: Int) async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let urls = try serve(20, on: fixture, gate: gate)
        let prefetcher = ImagePrefetcher(
            urls.map { ImageRequest($0) }, pipeline: fixture.pipeline, concurrency: concurrency)
        prefetcher.start()
        try await fixture.transport.waitForRequests(concurrency)
        #expect(fixture.transport.requestCount == concurrency)
        #expect(await fixture.pipeline.jobCount == concurrency)
        gate.open()
        #expect(try await prefetcher.outcome.finished.count == 20)
    }

    @Test func equalRequestsAreOneTransfer() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let requests = Array(repeating: ImageRequest(url), count: 100)
        let outcome = await ImagePrefetcher(requests, pipeline: fixture.pipeline).run()
        #expect(outcome.finished.count + outcome.skipped.count == 100)
        #expect(!outcome.finished.isEmpty)
        #expect(fixture.transport.requestCount == 1)
    }
}
