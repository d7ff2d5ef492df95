import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// The things that an interceptor may do with a load, and those that it cannot.
@Suite(.timeLimit(.minutes(5))) struct ImageInterceptorTests {
    struct Closure: ImageInterceptor {
        let body: @Sendable (ImageRequest, @escaping Next) async throws -> ImageResponse

        init(_ body: @escaping @Sendable (ImageRequest, @escaping Next) async throws -> ImageResponse) {
            self.body = body
        }

        func intercept(_ request: ImageRequest, next: @escaping Next) async throws -> ImageResponse {
            try await body(request, next)
        }
    }

    struct Unwanted: Error, CustomStringConvertible { let description = "not this one" }

    private func fixture(_ interceptors: Closure...) -> PipelineFixture {
        PipelineFixture { $0.interceptors = interceptors }
    }

    private func counting(_ calls: Counter) -> Closure {
        Closure { request, next in
            calls.increment()
            return try await next(request)
        }
    }

    private static func image(_ side: Int) throws -> Image {
        let size = PixelSize(side, side)
        let bitmap = try Bitmap(size: size, isOpaque: true) { $0.initializeMemory(as: UInt8.self, repeating: 255) }
        return Image(bitmap: bitmap, info: ImageInfo(format: .bitmap, size: size))
    }

    // MARK: - The chain

    @Test func firstIsOutermost() async throws {
        let order = Lock<[String]>([])
        func noting(_ name: String, _ side: Int) -> Closure {
            Closure { request, next in
                order.withLock { $0.append("\(name) in \(request.processors.count)") }
                var request = request
                request.processors.append(.resize(to: PixelSize(side, side), mode: .stretch))
                let response = try await next(request)
                order.withLock { $0.append("\(name) out \(response.image.size)") }
                return response
            }
        }
        let fixture = fixture(noting("A", 8), noting("B", 5))
        let image = try await fixture.pipeline.image(for: try fixture.serve("png/rgb8.png"))
        #expect(image.size == PixelSize(5, 5))
        #expect(order.withLock { $0 } == ["A in 0", "B in 1", "B out 5x5", "A out 5x5"])
    }

    @Test func withoutInterceptorsAHitIsAtOnceAndWithThemTheyComeFirst() async throws {
        let calls = Counter()
        for (fixture, expected) in [(fixture(), 0), (fixture(counting(calls)), 2)] {
            let url = try fixture.serve("png/rgb8.png")
            _ = try await fixture.pipeline.image(for: url)
            let task = fixture.pipeline.task(for: ImageRequest(url))
            if expected == 0 { #expect(task.status == .finished) }
            #expect(try await task.response.origin == .memory)
            #expect(calls.value == expected)
            // A synchronous look-up calls none.
            #expect(fixture.pipeline.cache.image(inMemoryFor: url) != nil)
            #expect(calls.value == expected)
        }
    }

    @Test func changedRequestIsLoadedAndCachedAsSuch() async throws {
        let swap = Closure { request, next in
            var request = request
            request.source = ImageSource(PipelineFixture.url("png/rgba8.png"))
            return try await next(request)
        }
        let fixture = fixture(swap)
        let asked = PipelineFixture.url("asked.png")
        let other = try fixture.serve("png/rgba8.png")
        let first = try await fixture.pipeline.response(for: ImageRequest(asked))
        #expect(first.origin == .network && first.source == ImageSource(other))
        #expect(first.requestedSource == ImageSource(asked))
        let cache = fixture.pipeline.cache
        #expect(cache.image(inMemoryFor: asked) == nil && cache.image(inMemoryFor: other) != nil)
        #expect(try await fixture.pipeline.response(for: ImageRequest(asked)).origin == .memory)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func changedFileIsFoundByItsOwnAttributes() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.url.appending(path: "picture.png")
        try TestFiles.data("png/rgb8.png").write(to: file)
        let fixture = fixture(
            Closure { request, next in
                var request = request
                request.source = ImageSource(file)
                return try await next(request)
            })
        #expect(try await fixture.pipeline.response(for: ImageRequest(PipelineFixture.url("a"))).origin == .file)
        #expect(try await fixture.pipeline.response(for: ImageRequest(PipelineFixture.url("a"))).origin == .memory)
    }

    // MARK: - Answers

    @Test func interceptorAnswersByItself() async throws {
        let own = Closure { request, _ in
            ImageResponse(image: try Self.image(3), source: request.source) { Data("own".utf8) }
        }
        let fixture = fixture(own)
        let url = PipelineFixture.url("none.png")
        let response = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(response.image.size == PixelSize(3, 3) && response.origin == .provider)
        #expect(response.source == ImageSource(url) && response.requestedSource == ImageSource(url))
        #expect(try await response.data() == Data("own".utf8))
        #expect(fixture.transport.requestCount == 0)
        // Nothing of it is kept.
        #expect(fixture.pipeline.cache.image(inMemoryFor: url) == nil)
        #expect(await fixture.diskEntries() == 0)
        let without = ImageResponse(image: response.image, source: response.source)
        await #expect {
            try await without.data()
        } throws: { ($0 as? ImagePipelineError)?.code == "notInCache" }
    }

    @Test func replacedImageIsDeliveredAndNotKept() async throws {
        let fixture = fixture(
            Closure { request, next in try await next(request).replacing(try Self.image(2)) })
        let url = try fixture.serve("png/rgb8.png")
        let response = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(response.image.size == PixelSize(2, 2) && response.origin == .network)
        #expect(try await response.data() == TestFiles.data("png/rgb8.png"))
        #expect(response.metrics.transfer != nil)
        #expect(fixture.pipeline.cache.image(inMemoryFor: url)?.size != PixelSize(2, 2))
    }

    @Test func errorsAreWrappedOnce() async throws {
        let (before, after) = (
            Closure { _, _ in throw Unwanted() },
            Closure { request, next in
                _ = try await next(request)
                throw Unwanted()
            }
        )
        for interceptor in [before, after] {
            let fixture = fixture(counting(Counter()), interceptor)
            let url = try fixture.serve("png/rgb8.png")
            await #expect {
                try await fixture.pipeline.image(for: url)
            } throws: { error in
                guard case .intercepted(let source, let own)? = error as? ImagePipelineError else { return false }
                return source == url.absoluteString && own is Unwanted && "\(own)" == "not this one"
            }
            #expect(await fixture.pipeline.runningCount == 0)
        }
    }

    @Test func errorsOfLoadsReachInterceptorsAsTheCallerGetsThem() async throws {
        let seen = Lock<[String]>([])
        let fixture = fixture(
            Closure { request, next in
                do {
                    return try await next(request)
                } catch let error as ImagePipelineError {
                    seen.withLock { $0.append(error.code) }
                    throw error
                }
            })
        let (missing, broken) = (PipelineFixture.url("missing"), PipelineFixture.url("broken"))
        fixture.transport.answer(missing, with: .data(Data(), status: 404))
        fixture.transport.answer(broken, with: .data(Data("text".utf8)))
        for (source, code) in [
            (ImageSource(missing), "httpStatus"), (ImageSource(broken), "notAnImage"),
            (ImageSource(string: ""), "invalidRequest"),
        ] {
            await #expect {
                try await fixture.pipeline.image(for: ImageRequest(source))
            } throws: { ($0 as? ImagePipelineError)?.code == code }
        }
        #expect(seen.withLock { $0 } == ["httpStatus", "notAnImage", "invalidRequest"])
    }

    @Test func nextMayBeCalledAgain() async throws {
        let fixture = fixture(
            Closure { request, next in
                do {
                    return try await next(request)
                } catch {
                    var spare = request
                    spare.source = ImageSource(PipelineFixture.url("png/rgb8.png"))
                    return try await next(spare)
                }
            })
        _ = try fixture.serve("png/rgb8.png")
        let missing = PipelineFixture.url("missing")
        fixture.transport.answer(missing, with: .data(Data(), status: 404))
        let response = try await fixture.pipeline.response(for: ImageRequest(missing))
        #expect(response.source == ImageSource(PipelineFixture.url("png/rgb8.png")))
        #expect(response.requestedSource == ImageSource(missing))
    }

    /// Two loads at the same time, of which the first wins and the other one is called off.
    @Test func nextMayBeCalledAtTheSameTime() async throws {
        let fixture = fixture(
            Closure { request, next in
                var other = request
                other.source = ImageSource(PipelineFixture.url("png/rgb8.png"))
                return try await withThrowingTaskGroup(of: ImageResponse.self) { group in
                    for request in [request, other] { group.addTask { try await next(request) } }
                    defer { group.cancelAll() }
                    guard let first = try await group.next() else { throw Unwanted() }
                    return first
                }
            })
        _ = try fixture.serve("png/rgb8.png")
        let slow = try fixture.serve("png/rgba8.png", gate: ScriptedTransportGate())
        let response = try await fixture.pipeline.response(for: ImageRequest(slow))
        #expect(response.source == ImageSource(PipelineFixture.url("png/rgb8.png")))
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        try await fixture.transport.waitForCancellations(1)
    }

    @Test func nextThatIsNotAwaitedEndsWithTheLoad() async throws {
        let late = Lock<[Task<ImageResponse, any Error>]>([])
        let kept = Lock<(ImageInterceptor.Next)?>(nil)
        let fixture = fixture(
            Closure { request, next in
                let task = Task { try await next(request) }
                late.withLock { $0.append(task) }
                kept.withLock { $0 = next }
                return ImageResponse(image: try Self.image(1), source: request.source)
            })
        let slow = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        _ = try await fixture.pipeline.image(for: slow)
        for task in late.withLock({ $0 }) { await #expect(throws: CancellationError.self) { try await task.value } }
        // Not left there: it holds the interceptor, which holds the lock.
        let next = try #require(kept.withLock { $0.take() })
        await #expect(throws: CancellationError.self) { try await next(ImageRequest(slow)) }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
    }

    // MARK: - What passes through

    @Test func cancellationPassesThrough() async throws {
        let ends = Lock<[Bool]>([])
        let fixture = fixture(
            Closure { request, next in
                do {
                    return try await next(request)
                } catch {
                    ends.withLock { $0.append(error is CancellationError && Task.isCancelled) }
                    throw error
                }
            })
        let task = fixture.pipeline.task(
            for: ImageRequest(try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())))
        try await fixture.transport.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.response }
        try await fixture.transport.waitForCancellations(1)
        while ends.withLock({ $0.isEmpty }) { await Task.yield() }
        #expect(ends.withLock { $0 } == [true])
        #expect(await fixture.pipeline.runningCount == 0)
    }

    /// An interceptor that never returns keeps no load from ending.
    @Test func aLoadEndsAtOnceThoughItsInterceptorHeedsNoCancellation() async throws {
        let (hasCome, mayGo) = (ScriptedTransportGate(), ScriptedTransportGate())
        let late = Lock<Bool?>(nil)
        let fixture = fixture(
            Closure { request, next in
                hasCome.open()
                await Task.detached { try? await mayGo.wait() }.value
                do {
                    return try await next(request)
                } catch {
                    late.withLock { $0 = error is CancellationError }
                    throw error
                }
            })
        let task = fixture.pipeline.task(for: ImageRequest(try fixture.serve("png/rgb8.png")))
        try await hasCome.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.response }
        while await fixture.pipeline.runningCount > 0 { await Task.yield() }
        mayGo.open()
        while late.withLock({ $0 }) == nil { await Task.yield() }
        #expect(late.withLock { $0 } == true)
        #expect(fixture.transport.requestCount == 0)
    }

    @Test func priorityReachesTheLoadsOfTheChain() async throws {
        let transport = ScriptedTransport()
        let fixture = PipelineFixture(disk: false, transport: transport) {
            var download = ImageDownloader.Configuration(transport: transport)
            download.transfersPerHost = 1
            download.timeouts.minimumRate = .none
            $0.downloader = ImageDownloader(download)
            $0.interceptors = [Closure { request, next in try await next(request) }]
        }
        let gate = ScriptedTransportGate()
        let first = fixture.pipeline.task(for: ImageRequest(try fixture.serve("png/rgb8.png", gate: gate)))
        try await transport.waitForRequests(1)
        let urls = try ["png/rgba8.png", "jpeg/gray.jpg"].map { try fixture.serve($0) }
        let others = urls.map { fixture.pipeline.task(for: ImageRequest($0)) }
        while fixture.pipeline.configuration.downloader.waitingCount < 2 { await Task.yield() }
        others[1].priority = .high
        // Asked after the change, and on the same thread.
        #expect(await fixture.pipeline.runningCount == 3)
        gate.open()
        for task in [first] + others { _ = try await task.response }
        #expect(transport.requests.map(\.url) == [PipelineFixture.url("png/rgb8.png"), urls[1], urls[0]])
    }

    @Test func progressAndPreviewsFlowAsTheChangedRequestDeliversThem() async throws {
        let fixture = PipelineFixture(disk: false) {
            $0.coders = CoderRegistry.standard()
            $0.interceptors = [
                Closure { request, next in
                    var request = request
                    request.scale = 3
                    (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
                    return try await next(request)
                }
            ]
        }
        let (url, gate) = (PipelineFixture.url("slow"), ScriptedTransportGate())
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let steps: [ScriptedTransport.Answer.Step] = [
            .chunk(data.prefix(data.count * 3 / 4)), .wait(gate), .chunk(data.dropFirst(data.count * 3 / 4)),
        ]
        fixture.transport.answer(url, with: .init(headers: ["Content-Length": "\(data.count)"], steps: steps))
        var (previews, received, ends) = ([ImagePreview](), [Int](), 0)
        for try await event in fixture.pipeline.events(for: ImageRequest(url)) {
            switch event {
            case .preview(let preview):
                previews.append(preview)
                gate.open()
            case .progress(let progress): received.append(progress.received)
            case .finished(let response):
                ends += 1
                #expect(response.image.scale == 3)
            }
        }
        #expect(ends == 1)
        #expect(!previews.isEmpty && previews.allSatisfy { $0.scale == 3 })
        #expect(!received.isEmpty)
    }

    @Test func alternativesAreTriedWithinNext() async throws {
        let calls = Counter()
        let fixture = fixture(counting(calls))
        let missing = PipelineFixture.url("missing")
        fixture.transport.answer(missing, with: .data(Data(), status: 404))
        var request = ImageRequest(missing)
        request.alternatives = [ImageSource(try fixture.serve("png/rgb8.png"))]
        request.cachePolicy.waitsForStore = true
        let response = try await fixture.pipeline.response(for: request)
        #expect(response.source == request.alternatives[0] && response.requestedSource == ImageSource(missing))
        #expect(calls.value == 1)
    }

    @Test func equalLoadsShareTheirWorkAndEachIsIntercepted() async throws {
        let calls = Counter()
        let fixture = fixture(counting(calls))
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let tasks = (0..<20).map { _ in fixture.pipeline.task(for: ImageRequest(url)) }
        while await !fixture.pipeline.isWaitingForBytes(20) { await Task.yield() }
        gate.open()
        for task in tasks { _ = try await task.response }
        #expect(calls.value == 20 && fixture.transport.requestCount == 1 && fixture.decodes.value == 1)
    }

    // MARK: - Everything that loads

    @Test func prefetchIntoMemoryGoesThroughTheChain() async throws {
        let calls = Counter()
        let swap = Closure { request, next in
            calls.increment()
            var request = request
            request.source = ImageSource(PipelineFixture.url("png/rgba8.png"))
            return try await next(request)
        }
        let fixture = fixture(swap)
        let other = try fixture.serve("png/rgba8.png")
        let request = ImageRequest(PipelineFixture.url("asked"))
        let first = await ImagePrefetcher([request], pipeline: fixture.pipeline, destination: .memory).run()
        #expect(first.finished.count == 1 && fixture.pipeline.cache.image(inMemoryFor: other) != nil)
        let second = await ImagePrefetcher([request], pipeline: fixture.pipeline, destination: .memory).run()
        #expect(second.skipped.count == 1 && calls.value == 2)
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func bytesAndEncodingsAreNotIntercepted() async throws {
        let calls = Counter()
        let fixture = fixture(counting(calls))
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.data(for: ImageRequest(url))
        _ = try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .jpeg())
        _ = await ImagePrefetcher([ImageRequest(url)], pipeline: fixture.pipeline, destination: .disk).run()
        #expect(calls.value == 0)
    }

    @Test @MainActor func viewsGoThroughTheChainAlsoForImagesInMemory() async throws {
        let calls = Counter()
        let fixture = fixture(counting(calls))
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        let (screen, ends) = (TargetScreen(), TargetEnds())
        let target = ImageTarget(surface: screen)
        target.setImage(ImageRequest(url), pipeline: fixture.pipeline, completion: ends.callback("1"))
        #expect(ends.all.isEmpty)
        await ends.wait(for: 1)
        #expect(ends.all == ["1 shown"] && calls.value == 2 && screen.states.last == "showing")
        // The image that is shown is not loaded again.
        target.setImage(ImageRequest(url), pipeline: fixture.pipeline, completion: ends.callback("2"))
        #expect(ends.all == ["1 shown", "2 shown"] && calls.value == 2)
    }

    @Test func eventsReportOneLoad() async throws {
        let fixture = fixture(
            Closure { request, next in
                _ = try? await next(request)
                return try await next(request)
            })
        let url = try fixture.serve("png/rgb8.png")
        let events = fixture.pipeline.events
        _ = try await fixture.pipeline.image(for: url)
        var (starts, hits) = (0, 0)
        for await event in events {
            switch event.kind {
            case .started: starts += 1
            case .cacheHit: hits += 1
            default: break
            }
            if case .ended = event.kind { break }
        }
        #expect(starts == 1 && hits == 1)
    }
}
