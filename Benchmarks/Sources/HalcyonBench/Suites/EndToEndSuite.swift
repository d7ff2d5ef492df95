import CFloors
import Foundation
import Halcyon

/// Loads many images over the network as thumbnails, all requested at once.
struct EndToEndSuite: Suite {
    let names = ["end-to-end"]
    private static let images = 500
    private static let source = PixelSize(1024, 768)
    private static let box = PixelSize(256, 256)
    private static let thumbnail = PixelSize(256, 192)

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let (server, requests) = try Self.serve(scratch)
        return [
            comparison("memory only", server, floorFolder: nil) { try await Self.load(requests, disk: nil).0 },
            comparison("nothing kept", server, floorFolder: nil) {
                try await Self.load(requests.map(\.keepingNothing), disk: nil).0
            },
            comparison("disk store", server, floorFolder: try scratch.makeFolder("floor")) {
                try await Self.loadStoring(requests, scratch, includingFlush: false)
            },
            comparison("disk store and flush", server, floorFolder: try scratch.makeFolder("floor")) {
                try await Self.loadStoring(requests, scratch, includingFlush: true)
            },
        ]
    }

    /// Starts a server of the images, and returns the requests for thumbnails of them.
    static func serve(_ scratch: ScratchFolder) throws -> (ServerProcess, [ImageRequest]) {
        let folder = try scratch.makeFolder("images-\(UUID().uuidString)")
        for index in 0..<Self.images {
            let file = try CoderRegistry.shared.encode(NoiseImage.make(Self.source, seed: UInt64(index)), as: .jpeg)
            try file.write(to: folder.appending(path: "\(index).jpg"))
        }
        let server = try ServerProcess.start(serving: folder, scratch: scratch)
        let requests = (0..<Self.images).map {
            ImageRequest(
                server.address.appending(path: "\($0).jpg"), processors: [.resize(to: Self.box)])
        }
        return (server, requests)
    }

    private func comparison(
        _ variant: String, _ server: ServerProcess, floorFolder: URL?,
        _ subject: @escaping @Sendable () async throws -> Sample
    ) -> Comparison {
        Comparison(
            name: "end-to-end", variant: "\(Self.images) to 256 px, \(variant)", unit: .milliseconds, operations: 1,
            images: Self.images,
            subject: { try await ResidentMemory.growth { try await subject() } },
            floor: { try await ResidentMemory.growth { try Self.floor(server, folder: floorFolder) } })
    }

    /// Loads with a new pipeline each time: nothing is in memory, and no connection is open.
    ///
    /// - Parameters:
    ///   - prepare: called with the pipeline before the time begins.
    ///   - finish: called after the last image, before the time ends.
    static func load(
        _ requests: [ImageRequest], disk: DiskCache?, tracer: (any LoadTracer)? = nil,
        prepare: (ImagePipeline) async throws -> Void = { _ in }, finish: () async throws -> Void = {}
    ) async throws -> (Sample, ImagePipeline) {
        var configuration = ImagePipeline.Configuration(cache: ImageCache(disk: disk))
        configuration.tracer = tracer
        let pipeline = ImagePipeline(configuration: configuration)
        try await prepare(pipeline)
        let sample = try await Sample.of {
            try await withThrowingTaskGroup(of: PixelSize.self) { group in
                for request in requests { group.addTask { try await pipeline.image(for: request).size } }
                for try await size in group where size != thumbnail {
                    throw BenchmarkFailure("a thumbnail has \(size) pixels")
                }
            }
            try await finish()
        }
        return (sample, pipeline)
    }

    private static func loadStoring(
        _ requests: [ImageRequest], _ scratch: ScratchFolder, includingFlush: Bool
    ) async throws -> Sample {
        let folder = try scratch.makeFolder("cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = DiskCache(folder: folder)
        let (sample, pipeline) = try await load(
            requests, disk: disk, finish: { if includingFlush { await disk.flush() } })
        await pipeline.shutdown(within: .seconds(60))
        let stored = await disk.size()
        if stored < images * 1024 { throw BenchmarkFailure("\(stored) bytes were stored") }
        return sample
    }

    /// Runs the floor with twice as many threads as cores, so that a core has work while a thread waits for the
    /// server.
    private static func floor(_ server: ServerProcess, folder: URL?) throws -> Sample {
        let threads = ProcessInfo.processInfo.activeProcessorCount * 2
        var good: Int32 = 0
        let sample = server.address.absoluteString.withCString { address in
            withOptionalCString(folder?.path(percentEncoded: false)) { path in
                var job = bench_fetch(
                    base_url: address, count: Int32(images), threads: Int32(threads), eighths: 2, folder: path)
                return Sample.of {
                    good = bench_fetch_thumbnails(&job, Int32(thumbnail.width), Int32(thumbnail.height))
                }
            }
        }
        guard good == images else { throw BenchmarkFailure("the floor made \(good) of \(images) thumbnails") }
        return sample
    }

    private static func withOptionalCString<Result>(
        _ text: String?, _ body: (UnsafePointer<CChar>?) -> Result
    ) -> Result {
        guard let text else { return body(nil) }
        return text.withCString { body($0) }
    }
}

extension ImageRequest {
    /// The request with neither memory nor disk storage.
    var keepingNothing: ImageRequest {
        var request = self
        request.cachePolicy = .noStore
        return request
    }
}
