import Dispatch
import Foundation
import Halcyon
import HalcyonCodecs
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// A pipeline with threads of its own. One test at a time counts the threads of the process that have such a name.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ProcessingThreadsTests {
    /// Returns a processor that notes the name and number of its thread, and another image for each `index`.
    private func noting(
        _ threads: Lock<[String]>, _ index: Int = 0, _ work: @escaping @Sendable () -> Void = {}
    ) -> any ImageProcessor {
        .general("test.thread.\(index)") { image, _ in
            threads.withLock { $0.append(Self.currentThread) }
            work()
            return image
        }
    }

    /// The number and the name of the calling thread.
    private static var currentThread: String {
        let link = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? ""
        let name = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
        return "\(URL(filePath: link).lastPathComponent) \(name)"
    }

    /// The number of the process's threads that belong to no shared pool.
    private static var ownThreadCount: Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return name?.hasPrefix("halcyon-own") == true
        }
    }

    private static func waitForEndOfThreads() async {
        while ownThreadCount > 0 { await Task.yield() }
    }

    private func fixture(_ threads: ProcessingThreads) -> PipelineFixture {
        PipelineFixture { $0.processingThreads = threads }
    }

    @Test(arguments: [(Int.min, 1), (-1, 1), (0, 1), (1, 1), (3, 3), (.max, ProcessingThreads.maximumCount)])
    func anyNumberOfThreadsIsSomeNumber(asked: Int, expected: Int) async {
        do {
            let threads = ProcessingThreads(count: asked)
            #expect(threads.count == expected)
            while Self.ownThreadCount < expected { await Task.yield() }
            #expect(Self.ownThreadCount == expected)
            withExtendedLifetime(threads) {}
        }
        await Self.waitForEndOfThreads()
    }

    @Test func sharedThreadsAreAsManyAsCores() {
        #expect(ProcessingThreads.shared.count == SystemGrant.current.cores)
        let configuration = ImagePipeline.Configuration(cache: ImageCache(disk: nil, memoryPressure: nil))
        #expect(configuration.processingThreads.count == ProcessingThreads.shared.count)
    }

    /// Decodes, processors, the encoding for the disk and for a web response, and what is read from the disk again.
    @Test func allWorkOfAPipelineIsDoneByItsThreads() async throws {
        let used = Lock<[String]>([])
        do {
            let noting = NotingDecoder { used.withLock { $0.append(Self.currentThread) } }
            let coders = CoderRegistry.standard()
            coders.add(noting)
            let fixture = PipelineFixture {
                $0.processingThreads = ProcessingThreads(count: 1)
                $0.coders = coders
            }
            let url = try fixture.serve("png/rgb8.png")
            var request = ImageRequest(url, processors: [self.noting(used)])
            request.cachePolicy = .storeProcessed
            request.cachePolicy.waitsForStore = true
            request.serializer = NotingSerializer { used.withLock { $0.append(Self.currentThread) } }
            _ = try await fixture.pipeline.image(for: request)
            _ = try await fixture.pipeline.encodedImage(for: request, as: .jpeg())
            fixture.pipeline.cache.clearMemory()
            #expect(try await fixture.pipeline.response(for: request).origin == .disk)
        }
        let names = used.withLock { $0 }
        #expect(names.count >= 5)
        #expect(Set(names).count == 1)
        #expect(names.allSatisfy { $0.contains("halcyon-own-0") })
        await Self.waitForEndOfThreads()
    }

    /// However long the processors of one pipeline take, another one's images do not wait for them.
    @Test func pipelinesAreSeparated() async throws {
        let (used, others) = (Lock<[String]>([]), Lock<[String]>([]))
        let (hasBegun, mayEnd) = (ScriptedTransportGate(), DispatchSemaphore(value: 0))
        do {
            let slow = fixture(ProcessingThreads(count: 1))
            let url = try slow.serve("png/rgb8.png")
            // More than the shared threads: they would hold up every other pipeline if they ran there.
            let count = ProcessingThreads.shared.count + 1
            let held = (0..<count).map { index in
                let processor = noting(used, index) {
                    hasBegun.open()
                    mayEnd.wait()
                }
                return slow.pipeline.task(for: ImageRequest(url, processors: [processor]))
            }
            try await hasBegun.wait()
            let quick = [fixture(.shared), fixture(ProcessingThreads(count: 2))]
            for fixture in quick {
                _ = try fixture.serve("png/rgb8.png")
                _ = try await fixture.pipeline.image(for: ImageRequest(url, processors: [noting(others)]))
            }
            #expect(held.allSatisfy { $0.status != .finished })
            for _ in held { mayEnd.signal() }
            for task in held { _ = try await task.response }
            #expect(used.withLock { $0.count } == count)
        }
        // One thread did all of the slow work, and none of the quick.
        let slow = Set(used.withLock { $0 })
        #expect(slow.count == 1)
        #expect(slow.isDisjoint(with: others.withLock { $0 }))
        await Self.waitForEndOfThreads()
    }

    @Test func pipelinesCanShareThreadsOfTheirOwn() async throws {
        let used = Lock<[String]>([])
        do {
            let threads = ProcessingThreads(count: 1)
            for fixture in [fixture(threads), fixture(threads)] {
                let url = try fixture.serve("png/rgb8.png")
                _ = try await fixture.pipeline.image(for: ImageRequest(url, processors: [noting(used)]))
            }
        }
        #expect(used.withLock { $0.count } == 2)
        #expect(Set(used.withLock { $0 }).count == 1)
        await Self.waitForEndOfThreads()
    }

    @Test func waitingLoadIsCancelledWhileTheOnlyThreadIsBusy() async throws {
        let (hasBegun, mayEnd) = (ScriptedTransportGate(), DispatchSemaphore(value: 0))
        do {
            let fixture = fixture(ProcessingThreads(count: 1))
            let url = try fixture.serve("png/rgb8.png")
            let busy = noting(Lock([])) {
                hasBegun.open()
                mayEnd.wait()
            }
            let held = fixture.pipeline.task(for: ImageRequest(url, processors: [busy]))
            try await hasBegun.wait()
            let jobs = await fixture.pipeline.jobCount
            let waiting = fixture.pipeline.task(for: ImageRequest(url, processors: [.invert]))
            while await fixture.pipeline.jobCount == jobs { await Task.yield() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.response }
            while await fixture.pipeline.jobCount > jobs { await Task.yield() }
            mayEnd.signal()
            _ = try await held.response
        }
        await Self.waitForEndOfThreads()
    }

    /// Each has a thread of its own, but the memory is one budget: the decodes run one after the other.
    @Test func memoryOfDecodesIsSharedByPipelines() async throws {
        let (running, most) = (Lock(0), Lock(0))
        do {
            let png = try TestFiles.data("png/rgb8.png")
            let measuring = CoderRegistry.standard()
            measuring.add(NotingDecoder {})
            let needed = try measuring.plan(png).workingBytes
            let coders = CoderRegistry.standard(budget: DecodeBudget(capacity: needed * 2 - 1))
            coders.add(
                NotingDecoder {
                    let now = running.withLock {
                        $0 += 1; return $0
                    }
                    most.withLock { $0 = max($0, now) }
                    for _ in 0..<1_000 { sched_yield() }
                    running.withLock { $0 -= 1 }
                })
            let fixtures = (0..<2).map { _ in
                PipelineFixture {
                    $0.processingThreads = ProcessingThreads(count: 1)
                    $0.coders = coders
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for fixture in fixtures {
                    for number in 0..<10 {
                        let url = PipelineFixture.url("\(number).png")
                        fixture.transport.answer(url, with: .data(png))
                        group.addTask { _ = try await fixture.pipeline.image(for: url) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(coders.budget.available == coders.budget.capacity)
        }
        #expect(most.withLock { $0 } == 1)
        await Self.waitForEndOfThreads()
    }

    @Test func framesOfAPoolAreDecodedByItsThreads() async throws {
        let used = Lock<[String]>([])
        do {
            let pool = FramePool(limit: 1_000, memoryPressure: nil, threads: ProcessingThreads(count: 1))
            let player = try #require(
                AnimatedImagePlayer(
                    Film().image(frames: 5), configuration: .init(transformer: noting(used)), pool: pool))
            player.play()
            player.advance(to: .zero)
            while used.withLock({ $0.count }) < 4 {
                player.advance(to: .zero)
                await Task.yield()
            }
        }
        #expect(used.withLock { $0.allSatisfy { $0.contains("halcyon-own-0") } })
        await Self.waitForEndOfThreads()
    }
}

/// PNGs, with a closure that is called by each decode.
private struct NotingDecoder: ImageDecoder {
    let note: @Sendable () -> Void
    private let coders = CoderRegistry.standard()

    init(_ note: @escaping @Sendable () -> Void) {
        self.note = note
    }

    var formats: [ImageFormat] { [.png] }

    func canDecode(_ data: Data) -> Bool { coders.decoder(for: data).map { $0.formats.contains(.png) } ?? false }

    func probe(_ data: Data) throws -> ImageInfo { try coders.probe(data) }

    func decode(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap {
        note()
        return try coders.decode(data).bitmap
    }
}

/// PNGs, with a closure that is called wherever one is written or read.
private struct NotingSerializer: CacheSerializer {
    let note: @Sendable () -> Void

    init(_ note: @escaping @Sendable () -> Void) {
        self.note = note
    }

    func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        note()
        return try input.coders.encode(input.image, as: .png, options: EncodeOptions(), context: context)
    }

    func encodedImage(in stored: Data) throws -> Data {
        note()
        return stored
    }
}
