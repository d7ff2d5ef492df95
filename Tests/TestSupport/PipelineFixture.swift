import Foundation
import Halcyon
import HalcyonCache
import HalcyonSystem
import HalcyonTesting

/// A pipeline of real parts but for the network, which is scripted, and a folder that goes with it.
public final class PipelineFixture: Sendable {
    public let transport: ScriptedTransport
    public let pipeline: ImagePipeline
    public let folder: URL
    public let decodes = Counter()

    /// - Parameters:
    ///   - disk: false for a pipeline without a disk cache.
    ///   - folder: nil makes a new one; a folder of another fixture makes a second process of it.
    ///   - stores: the stores behind the disk.
    public init(
        disk: Bool = true, folder: URL? = nil, clock: TimeSource = .system,
        transport: ScriptedTransport = ScriptedTransport(), stores: [any CacheStore] = [],
        configure: (inout ImagePipeline.Configuration) -> Void = { _ in }
    ) {
        let folder = folder ?? Self.temporaryFolder()
        let coders = CoderRegistry.standard()
        coders.add(CountingDecoder(decodes: decodes))
        var download = ImageDownloader.Configuration(transport: transport)
        download.time = clock
        // A body that a test holds back may take any time.
        download.timeouts.minimumRate = .none
        // A retry waits for nothing.
        download.sleep = { _ in try Task.checkCancellation() }
        let diskCache = disk ? DiskCache(folder: folder, timeSource: clock) : nil
        var configuration = ImagePipeline.Configuration(
            cache: ImageCache(disk: diskCache, stores: stores, clock: clock, memoryPressure: nil),
            downloader: ImageDownloader(download), coders: coders,
            clock: clock)
        configure(&configuration)
        self.transport = transport
        self.folder = folder
        pipeline = ImagePipeline(configuration: configuration)
    }

    /// Waits for the starts of so many loads. Those of bytes and of encoded images have joined what they share by then.
    ///
    /// - Parameter events: the pipeline's events, requested before the loads were.
    public static func waitForStarts(_ count: Int, in events: AsyncStream<PipelineEvent>) async {
        var starts = 0
        for await event in events {
            if case .started = event.kind { starts += 1 }
            if starts == count { return }
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    public static func temporaryFolder() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "halcyon-test-\(UUID().uuidString)")
    }

    /// Returns the number of entries in the disk cache, once everything is written.
    public func diskEntries() async -> Int {
        await pipeline.configuration.cache.disk?.flush()
        return await pipeline.configuration.cache.disk?.count() ?? 0
    }

    /// Scripts a URL to answer with a file of `Tests/Fixtures`.
    @discardableResult
    public func serve(
        _ file: String, headers: HTTPHeaders = HTTPHeaders(), gate: ScriptedTransportGate? = nil
    ) throws -> URL {
        let url = Self.url(file)
        var answer = ScriptedTransport.Answer.data(try TestFiles.data(file), headers: headers)
        answer.headGate = gate
        transport.answer(url, with: answer)
        return url
    }

    public static func url(_ path: String) -> URL {
        URL(web: "http://images.test/\(path)")
    }
}
