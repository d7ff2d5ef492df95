import CFloors
import Foundation
import Halcyon
import HalcyonNetwork

/// Compares many small requests over persistent connections, a fixed number at once, with the same in libcurl.
struct RequestSuite: Suite {
    let names = ["request"]
    private static let files = 500
    private static let count = 5_000
    private static let atOnce = 50
    private static let size = 20_000

    func comparisons(_ scratch: ScratchFolder) async throws -> [Comparison] {
        let folder = try scratch.makeFolder("bodies")
        // A whole image, padded to the size with bytes that decoders skip.
        let image = try CoderRegistry.shared.encode(NoiseImage.make(PixelSize(160, 120), seed: 7), as: .jpeg)
        guard image.count < Self.size else { throw BenchmarkFailure("an image of \(image.count) bytes") }
        let body = image + Data(count: Self.size - image.count)
        for index in 0..<Self.files { try body.write(to: folder.appending(path: "\(index).jpg")) }
        let server = try ServerProcess.start(serving: folder, scratch: scratch)
        let urls = (0..<Self.count).map { server.address.appending(path: "\($0 % Self.files).jpg") }

        var transport = CurlTransport.Configuration()
        transport.idleConnections = Self.atOnce
        let curl = CurlTransport(transport)
        var configuration = ImageDownloader.Configuration(transport: curl)
        (configuration.transfersPerHost, configuration.transfers) = (Self.atOnce, Self.atOnce)
        let downloader = ImageDownloader(configuration)
        let pipeline = ImagePipeline(
            configuration: ImagePipeline.Configuration(
                cache: ImageCache(disk: nil), downloader: ImageDownloader(configuration)))
        return [
            comparison("Transport", server, urls) { url in
                var size = 0
                for try await chunk in try await curl.send(TransportRequest(url: url)).body { size += chunk.count }
                return size
            },
            comparison("ImageDownloader", server, urls) { try await downloader.download($0).data.count },
            comparison("pipeline.data(for:), no decode", server, urls) {
                try await pipeline.data(for: ImageRequest($0)).count
            },
            sharing(server, urls[0], configuration),
        ]
    }

    /// Compares 1,000 requests of one URL at the same time, which share a transfer and a decode, with one transfer.
    private func sharing(
        _ server: ServerProcess, _ url: URL, _ configuration: ImageDownloader.Configuration
    ) -> Comparison {
        Comparison(
            name: "request", variant: "1,000 of one URL, image(for:)", unit: .milliseconds, operations: 1,
            subject: {
                let pipeline = ImagePipeline(
                    configuration: ImagePipeline.Configuration(
                        cache: ImageCache(disk: nil), downloader: ImageDownloader(configuration)))
                return try await Sample.of {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<1_000 {
                            group.addTask {
                                guard try await pipeline.image(for: url).width == 160 else {
                                    throw BenchmarkFailure("another image")
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
            },
            floor: { try Self.floor(server, count: 1) })
    }

    private func comparison(
        _ variant: String, _ server: ServerProcess, _ urls: [URL], _ load: @escaping @Sendable (URL) async throws -> Int
    ) -> Comparison {
        Comparison(
            name: "request", variant: "20 kB, \(variant)", unit: .microseconds, operations: Self.count,
            subject: { try await Sample.of { try await Self.loadAll(urls, load) } },
            floor: { try Self.floor(server) })
    }

    private static func loadAll(_ urls: [URL], _ load: @escaping @Sendable (URL) async throws -> Int) async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for (index, url) in urls.enumerated() {
                if index >= atOnce { try check(await group.next()) }
                group.addTask { try await load(url) }
            }
            while let size = try await group.next() { try check(size) }
        }
    }

    private static func check(_ received: Int?) throws {
        guard received == size else { throw BenchmarkFailure("a body of \(received ?? 0) bytes") }
    }

    private static func floor(_ server: ServerProcess, count: Int = count) throws -> Sample {
        var good: Int32 = 0
        let sample = server.address.absoluteString.withCString { address in
            var job = bench_requests(
                base_url: address, files: Int32(files), count: Int32(count), at_once: Int32(atOnce), size: size)
            return Sample.of { good = bench_request_all(&job) }
        }
        guard good == count else { throw BenchmarkFailure("the floor had \(good) of \(count) bodies") }
        return sample
    }
}
