import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonSystem
import Synchronization
import TestSupport
import Testing

/// Starts, cancels, asks again, changes priorities and evicts at random from eight tasks at once. Every request must end
/// once, and with the requested image or error; nothing may be left.
@Suite(.timeLimit(.minutes(60)))
struct PipelineModelTests {
    /// `HALCYON_SOAK` runs the full count.
    private static let operations = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 10_000 : 1_000_000
    private static let workers = 8

    @Test(arguments: [false, true])
    func everyRequestEndsOnce(disk: Bool) async throws {
        let record = Record()
        let transport = RandomTransport(try (0..<ModelRequest.sources).map(ModelRequest.file))
        let folder = TemporaryFolder()
        let pipeline = makePipeline(transport, disk ? folder.url : nil)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<Self.workers {
                var worker = Worker(pipeline: pipeline, record: record, random: SplitMix(state: UInt64(number)))
                group.addTask { await worker.run(Self.operations / Self.workers / 2) }
            }
        }
        while await pipeline.runningCount > 0 { await Task.yield() }
        while await pipeline.jobCount > 0 { await Task.yield() }
        await pipeline.cache.disk?.flush()
        for complaint in record.all { Issue.record("\(complaint)") }
        #expect(record.begun.load(ordering: .relaxed) == record.ended.load(ordering: .relaxed))
        while transport.openCount > 0 { await Task.yield() }
        #expect(record.images.load(ordering: .relaxed) > Self.operations / 100)
        #expect(record.cancels.load(ordering: .relaxed) > Self.operations / 100)
        #expect(record.failures.load(ordering: .relaxed) > 0)
        #expect(transport.sendCount > Self.operations / 1000)
    }

    private func makePipeline(_ transport: RandomTransport, _ folder: URL?) -> ImagePipeline {
        var download = ImageDownloader.Configuration(transport: transport)
        download.sleep = { _ in try Task.checkCancellation() }
        let cache = ImageCache(
            memory: MemoryCacheConfiguration(costLimit: 20_000), disk: folder.map { DiskCache(folder: $0) })
        var configuration = ImagePipeline.Configuration(cache: cache, downloader: ImageDownloader(download))
        configuration.rememberedFailures = .none
        return ImagePipeline(configuration: configuration)
    }
}

/// The record of all workers. The first complaints are kept.
private final class Record: Sendable {
    private let complaints = Lock<[String]>([])
    let begun = Atomic<Int>(0)
    let ended = Atomic<Int>(0)
    let images = Atomic<Int>(0)
    let cancels = Atomic<Int>(0)
    let failures = Atomic<Int>(0)
    var all: [String] { complaints.withLock { $0 } }

    func complain(_ text: String) {
        complaints.withLock { if $0.count < 20 { $0.append(text) } }
    }
}

/// One of the requests that are made: each source has a colour of its own, and each variant a size.
private struct ModelRequest {
    /// The last two cannot be loaded: one has no bytes, the bytes of the other are not an image.
    static let sources = 8
    let source: Int
    let edge: Int

    static func url(_ source: Int) -> URL { URL(web: "http://images.test/\(source)") }

    static func file(_ source: Int) throws -> Data? {
        guard source < sources - 2 else { return source == sources - 1 ? Data("no image".utf8) : nil }
        let size = PixelSize(32, 32)
        let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                (bytes[offset], bytes[offset + 1], bytes[offset + 2]) = (UInt8(source * 30), 7, UInt8(source * 20))
                bytes[offset + 3] = 255
            }
        }
        let image = Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size, hasAlpha: false))
        return try CoderRegistry.shared.encode(image, as: .png)
    }

    func check(_ result: Result<ImageResponse, any Error>, _ record: Record) {
        switch result {
        case .success(let response):
            record.images.add(1, ordering: .relaxed)
            let pixel = response.image.bitmap.pixel(x: 0, y: 0)
            if source >= Self.sources - 2 || Int(pixel?.blue ?? 255) != source * 30 {
                record.complain("source \(source) gave another's image")
            }
            if response.image.size != PixelSize(edge, edge) {
                record.complain("an edge of \(edge) gave \(response.image.size)")
            }
        case .failure(is CancellationError):
            record.cancels.add(1, ordering: .relaxed)
        case .failure(let error):
            record.failures.add(1, ordering: .relaxed)
            if source < Self.sources - 2 { record.complain("source \(source) failed: \(error)") }
        }
    }
}

/// One task's share of the operations, on a window of its own loads.
private struct Worker {
    let pipeline: ImagePipeline
    let record: Record
    var random: SplitMix
    private var held: [(task: ImageTask, request: ModelRequest)] = []

    init(pipeline: ImagePipeline, record: Record, random: SplitMix) {
        (self.pipeline, self.record, self.random) = (pipeline, record, random)
    }

    mutating func run(_ count: Int) async {
        for _ in 0..<count {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8: start()
            case 8..<12: pick()?.task.cancel()
            case 12..<14: askAgain()
            case 14..<17:
                pick()?.task.priority = [.veryLow, .low, .normal, .high][Int.random(in: 0..<4, using: &random)]
            case 17: evict()
            case 18: await Task.yield()
            default: await waitForOldest()
            }
            if held.count > 40 { await waitForOldest() }
        }
        while !held.isEmpty { await waitForOldest() }
    }

    private mutating func pick() -> (task: ImageTask, request: ModelRequest)? {
        held.randomElement(using: &random)
    }

    private mutating func start() {
        let source = Int.random(in: 0..<ModelRequest.sources, using: &random)
        begin(ModelRequest(source: source, edge: [4, 8, 16, 32][Int.random(in: 0..<4, using: &random)]))
    }

    /// Requests a load again that was just cancelled, before its end has been processed.
    private mutating func askAgain() {
        guard let (task, request) = pick() else { return }
        task.cancel()
        begin(request)
    }

    private mutating func begin(_ model: ModelRequest) {
        var request = ImageRequest(ModelRequest.url(model.source))
        if model.edge < 32 { request.processors = [.resize(to: PixelSize(model.edge, model.edge))] }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: request.cachePolicy = .reload
        case 1: request.cachePolicy.reads.remove(.memory)
        case 2: request.wantsPreviews = true
        case 3: request.cachePolicy = .memoryOnly
        default: break
        }
        let record = record
        record.begun.add(1, ordering: .relaxed)
        let counter = EndCounter()
        let task = pipeline.load(request, callbackQueue: .inline) { result in
            record.ended.add(1, ordering: .relaxed)
            if counter.count() > 1 { record.complain("a request ended twice") }
            model.check(result, record)
        }
        held.append((task, model))
    }

    private mutating func evict() {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: pipeline.cache.clearMemory()
        case 1: pipeline.cache.trimMemory(toFraction: 0.5)
        default:
            let url = ModelRequest.url(Int.random(in: 0..<ModelRequest.sources, using: &random))
            let pipeline = pipeline
            Task { await pipeline.cache.remove(url) }
        }
    }

    private mutating func waitForOldest() async {
        guard !held.isEmpty else { return }
        let (task, request) = held.removeFirst()
        do {
            let response = try await task.response
            if response.image.size.width != request.edge { record.complain("the task has another size") }
        } catch {
            if request.source < ModelRequest.sources - 2, !(error is CancellationError) {
                record.complain("the task failed: \(error)")
            }
        }
    }
}

/// Counts the ends of one request.
private final class EndCounter: Sendable {
    private let ends = Atomic<Int>(0)

    func count() -> Int { ends.add(1, ordering: .relaxed).newValue }
}

/// A transport that answers in pieces, after a random number of turns.
private final class RandomTransport: Transport {
    private let files: [Data?]
    private let turns = Atomic<Int>(0)
    private let open = Atomic<Int>(0)
    private let sent = Atomic<Int>(0)
    var openCount: Int { open.load(ordering: .sequentiallyConsistent) }
    var sendCount: Int { sent.load(ordering: .sequentiallyConsistent) }

    init(_ files: [Data?]) { self.files = files }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        sent.add(1, ordering: .relaxed)
        let number = Int(request.url.lastPathComponent) ?? 0
        let file = files[number]
        await wait()
        try Task.checkCancellation()
        let headers: HTTPHeaders = ["Content-Length": "\(file?.count ?? 0)", "Cache-Control": "max-age=1000"]
        let head = HTTPResponseHead(url: request.url, status: file == nil ? 404 : 200, headers: headers)
        open.add(1, ordering: .sequentiallyConsistent)
        let rest = Lock<Data?>(file ?? Data())
        let close: @Sendable () -> Void = { [self] in
            let wasOpen = rest.withLock { rest in
                defer { rest = nil }
                return rest != nil
            }
            if wasOpen { open.subtract(1, ordering: .sequentiallyConsistent) }
        }
        return TransportResponse(
            head: head,
            body: TransportBody(
                next: { [self] in
                    await wait()
                    try Task.checkCancellation()
                    let chunk = rest.withLock { rest -> Data in
                        let chunk = rest?.prefix(40) ?? Data()
                        rest = rest?.dropFirst(40)
                        return Data(chunk)
                    }
                    if chunk.isEmpty { close() }
                    return chunk.isEmpty ? nil : chunk
                }, cancel: close))
    }

    private func wait() async {
        let count = turns.add(7, ordering: .relaxed).newValue % 5
        for _ in 0..<count { await Task.yield() }
    }
}
