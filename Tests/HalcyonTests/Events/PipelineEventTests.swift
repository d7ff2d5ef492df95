import Foundation
import Halcyon
import HalcyonProcessing
import HalcyonTesting
import TestSupport
import Testing

/// One stream for all events of a pipeline.
@Suite(.timeLimit(.minutes(5)))
struct PipelineEventTests {
    /// The events of a stream until so many loads have ended.
    private func events(_ stream: AsyncStream<PipelineEvent>, ends: Int) async -> [PipelineEvent] {
        var all: [PipelineEvent] = []
        var left = ends
        for await event in stream {
            all.append(event)
            if case .ended = event.kind { left -= 1 }
            if left == 0 { break }
        }
        return all
    }

    private func names(_ events: [PipelineEvent]) -> [String] {
        events.map { event in
            switch event.kind {
            case .started: "started"
            case .cacheHit(let place, _): "hit \(place.rawValue)"
            case .cacheMissed(let miss): "miss \(miss.level.rawValue) \(miss.reason.rawValue)"
            case .transferStarted: "transfer"
            case .transferEnded: "arrived"
            case .transferFailed: "broken"
            case .retried(_, let attempt): "retried \(attempt)"
            case .alternativeTried: "alternative"
            case .decoded: "decoded"
            case .processed: "processed"
            case .encoded: "encoded"
            case .stored(let place): "stored \(place.rawValue)"
            case .notStored: "not stored"
            case .ended(.success(let origin, _)): "ended \(origin.rawValue)"
            case .ended(.failure(let error)): "failed \(error.code)"
            case .ended(.cancelled): "cancelled"
            }
        }
    }

    @Test func aLoadIsToldFromItsStartToItsEnd() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url, processors: [FlipProcessor(.vertical)], cachePolicy: .storeProcessed)
        let stream = fixture.pipeline.events
        var all: [PipelineEvent] = []
        for _ in 0..<2 {
            _ = try await fixture.pipeline.image(for: request)
            // The end is reported to readers behind the caller, which may be faster with the next load.
            all += await events(stream, ends: 1)
        }
        #expect(
            names(all) == [
                "started", "miss memory notFound", "miss diskProcessed notFound", "miss diskOriginal notFound",
                "transfer", "arrived", "decoded", "stored diskOriginal", "processed", "stored memory",
                "stored diskProcessed", "ended network",
                "started", "hit memory", "ended memory",
            ])
        #expect(Set(all.prefix(12).map(\.load)).count == 1)
        #expect(all.map(\.number) == Array(1...15))
        #expect(all.allSatisfy { $0.source == "http://images.test/png/rgb8.png" })
    }

    @Test func theReasonsOfMissesAreTold() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = PipelineFixture.url("aging")
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"1\"", "Vary": "X-Kind"]
        let data = try TestFiles.data("png/rgb8.png")
        let whole = ScriptedTransport.Answer.data(data, headers: headers)
        fixture.transport.answer(url, with: whole, .status(304, headers: headers), whole)
        func misses(_ request: ImageRequest) async throws -> [CacheMiss] {
            let task = fixture.pipeline.task(for: request)
            return try await task.response.metrics.misses
        }
        _ = try await fixture.pipeline.image(for: url)
        _ = await fixture.diskEntries()
        clock.advance(by: .seconds(20))
        #expect(
            try await misses(ImageRequest(url)) == [CacheMiss(.memory, .expired), CacheMiss(.diskOriginal, .expired)])
        let other = NetworkOptions(headers: ["X-Kind": "b"])
        #expect(try await misses(ImageRequest(url, network: other)).first == CacheMiss(.memory, .varyMismatch))
        #expect(
            try await misses(ImageRequest(url, cachePolicy: .reload)) == [
                CacheMiss(.memory, .policy), CacheMiss(.diskOriginal, .policy),
            ])
        let sized = try fixture.serve("png/rgb16.png")
        var small = ImageRequest(sized, decode: DecodeOptions(target: TargetSize(PixelSize(4, 4))))
        _ = try await fixture.pipeline.image(for: small)
        small.decode.target = TargetSize(PixelSize(8, 8))
        small.cachePolicy.acceptsLarger = true
        #expect(try await misses(small).first == CacheMiss(.memory, .tooSmall))
    }

    @Test func noStoreIsToldAsTheReason() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", headers: ["Cache-Control": "no-store"])
        let stream = fixture.pipeline.events
        let response = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(response.metrics.misses.map(\.reason) == [.noStore, .noStore])
        let all = names(await events(stream, ends: 1))
        #expect(all.contains("not stored"))
        #expect(!all.contains { $0.hasPrefix("stored") })
    }

    @Test func aHitCountsNoTransfers() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        let hit = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(hit.origin == .memory)
        #expect(hit.metrics.redirectCount == 0 && hit.metrics.retryCount == 0 && hit.metrics.transferCount == 0)
    }

    @Test func retriesRedirectsAndAlternativesAreToldAndCounted() async throws {
        let fixture = PipelineFixture()
        let (url, moved) = (PipelineFixture.url("moved"), PipelineFixture.url("here"))
        let broken = DownloadError(.connection(.reset), url: url)
        fixture.transport.answer(url, with: .failure(broken), .failure(broken), .redirect(to: moved.absoluteString))
        fixture.transport.answer(moved, with: .data(try TestFiles.data("png/rgb8.png")))
        let stream = fixture.pipeline.events
        let response = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(response.metrics.retryCount == 2)
        #expect(response.metrics.redirectCount == 1)
        #expect(response.metrics.transferCount == 1)
        var request = ImageRequest(PipelineFixture.url("gone"))
        request.alternatives = [.remote(url)]
        request.cachePolicy = .memoryOnly
        _ = try await fixture.pipeline.image(for: request)
        let all = names(await events(stream, ends: 2))
        #expect(all.filter { $0.hasPrefix("retried") } == ["retried 1", "retried 2"])
        #expect(all.contains("alternative"))
        #expect(all.contains("broken"))
    }

    @Test func sharedWorkIsReportedForEachLoad() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let stream = fixture.pipeline.events
        let first = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(1)
        let second = fixture.pipeline.task(for: ImageRequest(url))
        // It has joined once it is counted.
        while await !fixture.pipeline.isWaitingForBytes(2) { await Task.yield() }
        gate.open()
        let metrics = [try await first.response.metrics, try await second.response.metrics]
        #expect(metrics.allSatisfy { $0.transferCount == 1 && $0.decode != nil && $0.misses.count == 2 })
        let all = await events(stream, ends: 2)
        let loads = Dictionary(grouping: all, by: \.load)
        #expect(loads.count == 2)
        for load in loads.values {
            let told = Set(names(load))
            #expect(told.isSuperset(of: ["started", "transfer", "arrived", "decoded", "ended network"]))
        }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func failuresAndCancellationsEndOnce() async throws {
        let fixture = PipelineFixture()
        let held = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let stream = fixture.pipeline.events
        _ = try? await fixture.pipeline.image(for: PipelineFixture.url("none?token=secret"))
        let task = fixture.pipeline.task(for: ImageRequest(held))
        try await fixture.transport.waitForRequests(2)
        task.cancel()
        let all = await events(stream, ends: 2)
        #expect(names(all).filter { $0.hasPrefix("failed") } == ["failed httpStatus"])
        #expect(names(all).filter { $0 == "cancelled" }.count == 1)
        #expect(!all.contains { "\($0)".contains("secret") })
    }

    @Test func bytesEncodingsAndPrefetchesAreLoadsToo() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let stream = fixture.pipeline.events
        _ = try await fixture.pipeline.data(for: ImageRequest(url))
        let encoded = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .png)
        #expect(encoded.metrics.encode != nil)
        #expect(encoded.metrics.bytes == encoded.data.count)
        _ = await ImagePrefetcher([ImageRequest(url)], pipeline: fixture.pipeline).run()
        let all = await events(stream, ends: 3)
        let told = names(all)
        #expect(told.filter { $0 == "started" }.count == 3)
        #expect(told.contains("encoded"))
        #expect(told.contains("stored diskEncoded"))
    }

    // MARK: - Readers

    @Test func aSlowReaderKeepsTheNewestAndSeesHowManyItLost() async throws {
        // There is no disk, whose deferred writes would cause events at any time.
        let fixture = PipelineFixture(disk: false)
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        // The pipeline's bookkeeping learns of its end right after that, on its own thread.
        #expect(await fixture.pipeline.runningCount == 0)
        let slow = fixture.pipeline.events(bufferingNewest: 4)
        let quick = fixture.pipeline.events
        for _ in 0..<10 { _ = try await fixture.pipeline.image(for: url) }
        let kept = await events(slow, ends: 2)
        #expect(kept.map(\.number) == [27, 28, 29, 30])
        #expect(await events(quick, ends: 10).map(\.number) == Array(1...30))
    }

    @Test func theStreamsEndWithThePipeline() async throws {
        var fixture: PipelineFixture? = PipelineFixture()
        let stream = fixture?.pipeline.events
        fixture = nil
        for await _ in try #require(stream) {}
    }

    @Test func aReaderThatHasLeftCostsNothing() async throws {
        let fixture = PipelineFixture()
        // A load's end is reported behind its caller, perhaps to the reader that comes next: these all end at once.
        let url = PipelineFixture.url("kept.png")
        try await fixture.pipeline.cache.store(Image(data: TestFiles.data("png/rgb8.png")), for: url, to: .memory)
        let reader = Task { [stream = fixture.pipeline.events] in for await _ in stream {} }
        reader.cancel()
        await reader.value
        for _ in 0..<10 { _ = try await fixture.pipeline.image(for: url) }
        // Those hits were not even counted: the first load that a new reader sees is the pipeline's first.
        let stream = fixture.pipeline.events
        _ = try await fixture.pipeline.image(for: url)
        #expect(await events(stream, ends: 1).first?.load == 1)
    }

    @Test func aReaderWithoutMemoryHitsMissesNothing() async throws {
        let fixture = PipelineFixture(disk: false)
        let (kept, other) = (try fixture.serve("png/rgb8.png"), try fixture.serve("png/gray8.png"))
        let stream = fixture.pipeline.events(bufferingNewest: 100, includesMemoryHits: false)
        let all = fixture.pipeline.events
        for url in [kept, kept, kept, other] { _ = try await fixture.pipeline.image(for: url) }
        let seen = await events(stream, ends: 2)
        #expect(seen.map(\.number) == Array(1...seen.count))
        #expect(await events(all, ends: 4).count == seen.count + 6)
    }

    /// Some never read, some leave in the middle, and the rest see the same, each load in its order.
    @Test func readersOfAllKindsDoNotDisturbEachOther() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png")
        let pipeline = fixture.pipeline
        let idle = (0..<20).map { _ in pipeline.events(bufferingNewest: 1) }
        let whole = (0..<5).map { _ in pipeline.events(bufferingNewest: 1_000_000) }
        let leaving = (1...20).map { index in
            Task { [stream = pipeline.events(bufferingNewest: index)] in
                var left = index
                for await _ in stream {
                    left -= 1
                    if left == 0 { break }
                }
            }
        }
        let cancelled = (0..<20).map { _ in Task { [stream = pipeline.events] in for await _ in stream {} } }
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask {
                    if index < cancelled.count { cancelled[index].cancel() }
                    _ = try? await pipeline.image(
                        for: ImageRequest(url, cachePolicy: index % 2 == 0 ? .reload : .default))
                }
            }
        }
        for reader in leaving + cancelled { await reader.value }
        _ = try? await pipeline.image(for: PipelineFixture.url("marker"))
        var seen: [[PipelineEvent]] = []
        for stream in whole { seen.append(await events(stream, ends: 201)) }
        #expect(seen.allSatisfy { $0.map(\.number) == Array(1...$0.count) })
        #expect(Set(seen.map(\.count)).count == 1)
        for load in Dictionary(grouping: seen.first ?? [], by: \.load).values {
            #expect(names(load).first == "started")
            #expect(names(load).filter { $0 == "started" }.count == 1)
            guard case .ended = load.last?.kind else {
                Issue.record("the last of a load is not its end")
                continue
            }
        }
        withExtendedLifetime(idle) {}
    }

    @Test func everyLoadOfManyEndsExactlyOnce() async throws {
        let fixture = PipelineFixture()
        let files = ["png/rgb8.png", "png/rgb16.png", "jpeg/baseline-420.jpg"]
        let urls = try files.map { try fixture.serve($0) } + [PipelineFixture.url("none")]
        let stream = fixture.pipeline.events(bufferingNewest: 1_000_000)
        let count = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == "1" ? 20_000 : 400
        let pipeline = fixture.pipeline
        await withTaskGroup { group in
            for index in 0..<count {
                group.addTask {
                    var request = ImageRequest(urls[index % urls.count])
                    if index % 3 == 0 { request.cachePolicy = .reload }
                    let task = pipeline.task(for: request)
                    if index % 5 == 0 { task.cancel() }
                    _ = try? await task.response
                }
            }
        }
        while await pipeline.runningCount > 0 { await Task.yield() }
        let marker = PipelineFixture.url("marker")
        _ = try? await pipeline.image(for: marker)
        var (starts, ends): ([Int: Int], [Int: Int]) = ([:], [:])
        for await event in stream {
            if case .started = event.kind { starts[event.load, default: 0] += 1 }
            if case .ended = event.kind { ends[event.load, default: 0] += 1 }
            if case .ended = event.kind, event.source.hasSuffix("marker") { break }
        }
        #expect(starts == ends)
        #expect(starts.values.allSatisfy { $0 == 1 })
        #expect(await pipeline.jobCount == 0)
    }
}
