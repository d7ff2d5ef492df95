import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Guarantees that show only where loads meet, wait or break off.
@Suite(.timeLimit(.minutes(5)))
struct PipelineProofTests {
    // MARK: - Priority

    /// One transfer at a time, the first of which is held.
    private func queue(_ gate: ScriptedTransportGate) async throws -> (fixture: PipelineFixture, blocker: ImageTask) {
        let transport = ScriptedTransport()
        var download = ImageDownloader.Configuration(transport: transport)
        download.transfersPerHost = 1
        let fixture = PipelineFixture(disk: false, transport: transport) { [download] in
            $0.downloader = ImageDownloader(download)
        }
        let blocker = fixture.pipeline.task(for: ImageRequest(try fixture.serve("png/rgb8.png", gate: gate)))
        try await transport.waitForRequests(1)
        return (fixture, blocker)
    }

    private func add(_ file: String, to fixture: PipelineFixture) async throws -> ImageTask {
        let url = try fixture.serve(file)
        let waiting = fixture.pipeline.configuration.downloader.waitingCount
        let task = fixture.pipeline.task(for: ImageRequest(url))
        while fixture.pipeline.configuration.downloader.waitingCount == waiting { await Task.yield() }
        return task
    }

    private func order(_ fixture: PipelineFixture) -> [String] {
        fixture.transport.requests.dropFirst().map { $0.url.lastPathComponent }
    }

    @Test func aTasksPriorityReachesTheTransferThatWaits() async throws {
        let gate = ScriptedTransportGate()
        let (fixture, blocker) = try await queue(gate)
        let files = ["png/rgb16.png", "png/rgba8.png", "jpeg/gray.jpg"]
        var tasks: [ImageTask] = []
        for file in files { tasks.append(try await add(file, to: fixture)) }
        tasks[2].priority = .veryHigh
        tasks[0].priority = .low
        // Asked after the changes, and on the same thread.
        #expect(await fixture.pipeline.runningCount == 4)
        gate.open()
        for task in [blocker] + tasks { _ = try await task.response }
        #expect(order(fixture) == ["gray.jpg", "rgba8.png", "rgb16.png"])
    }

    /// The most urgent of those that share a transfer counts, for as long as it is there.
    @Test func highestPrioritySharedLoadCountsUntilCancelled() async throws {
        for stays in [true, false] {
            let gate = ScriptedTransportGate()
            let (fixture, blocker) = try await queue(gate)
            let first = try await add("png/rgb16.png", to: fixture)
            let shared = try await add("png/rgba8.png", to: fixture)
            let second = fixture.pipeline.task(for: shared.request)
            second.priority = .veryHigh
            while await !fixture.pipeline.isWaitingForBytes(4) { await Task.yield() }
            if !stays {
                second.cancel()
                while await fixture.pipeline.runningCount > 3 { await Task.yield() }
            }
            gate.open()
            for task in [blocker, first, shared] { _ = try await task.response }
            #expect(order(fixture) == (stays ? ["rgba8.png", "rgb16.png"] : ["rgb16.png", "rgba8.png"]))
            _ = try? await second.response
        }
    }

    // MARK: - Encoded answers

    @Test func cancelledCallerLeavesSharedEncodeRunning() async throws {
        let fixture = PipelineFixture()
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let request = ImageRequest(url, processors: [.resize(to: PixelSize(16, 16), mode: .fill)])
        let pipeline = fixture.pipeline
        let stream = pipeline.events
        let answers = (0..<100).map { _ in
            Task { try await pipeline.encodedImage(for: request, as: .webp(quality: 0.8)) }
        }
        await PipelineFixture.waitForStarts(100, in: stream)
        try await fixture.transport.waitForRequests(1)
        answers[37].cancel()
        await #expect(throws: CancellationError.self) { try await answers[37].value }
        gate.open()
        var tags: Set<String> = []
        var times: Set<Duration> = []
        for (index, answer) in answers.enumerated() where index != 37 {
            let image = try await answer.value
            tags.insert(image.etag)
            times.insert(try #require(image.metrics.encode))
        }
        #expect(tags.count == 1)
        // One time, since there was one encoding.
        #expect(times.count == 1)
        #expect(fixture.decodes.value == 1)
        #expect(fixture.transport.requestCount == 1)
        #expect(fixture.transport.cancelled.isEmpty)
        while await pipeline.jobCount > 0 { await Task.yield() }
    }

    @Test func aHitHasTheVeryBytesOfTheFirstAnswer() async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let url = try fixture.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=1000"])
        let encodings: [ImageEncoding] = [.original, .png, .jpeg(), .webp(quality: 0.8), ImageEncoding(.gif)]
        var first: [EncodedImage] = []
        for encoding in encodings {
            first.append(try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: encoding))
        }
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        #expect(first[0].data == (try TestFiles.data("jpeg/baseline-420.jpg")))
        let later = PipelineFixture(folder: folder)
        for (encoding, before) in zip(encodings, first) {
            let hit = try await later.pipeline.encodedImage(for: ImageRequest(url), as: encoding)
            #expect(hit.origin == .disk)
            #expect(hit.data == before.data)
            #expect(hit.etag == before.etag)
        }
        #expect(later.decodes.value == 0)
        #expect(later.transport.requestCount == 0)
    }

    // MARK: - Resume

    /// Noise, which no format makes small: more than three million bytes.
    private func largeImage() throws -> Data {
        var state: UInt64 = 7
        let size = PixelSize(1100, 1000)
        let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
            for pixel in bytes.bindMemory(to: UInt32.self).indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let colour = UInt32(truncatingIfNeeded: state >> 32) | 0xFF00_0000
                bytes.storeBytes(of: colour, toByteOffset: pixel * 4, as: UInt32.self)
            }
        }
        return try Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size)).data(as: .png)
    }

    @Test func nextLoadResumesInterruptedDownload() async throws {
        let body = try largeImage()
        let part = 2 << 20
        try #require(body.count > part + (1 << 20))
        let server = try RawServer { connection in
            while let head = connection.readRequest() {
                if head.contains("Range: bytes=\(part)-") {
                    try connection.send(
                        "HTTP/1.1 206 Partial Content\r\nContent-Length: \(body.count - part)\r\n"
                            + "Content-Range: bytes \(part)-\(body.count - 1)/\(body.count)\r\n"
                            + "Content-Type: image/png\r\nETag: \"one\"\r\n\r\n")
                    try connection.send(Data(body.dropFirst(part)))
                } else {
                    try connection.send(
                        "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nContent-Type: image/png\r\n"
                            + "ETag: \"one\"\r\n\r\n")
                    try connection.send(Data(body.prefix(part)))
                    connection.close()
                }
            }
        }
        defer { server.stop() }
        let folder = PipelineFixture.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var request = ImageRequest(server.url("/large.png"))
        request.network.retries = 0
        for process in 1...2 {
            let pipeline = ImagePipeline(
                configuration: .patient(cache: ImageCache(disk: DiskCache(folder: folder), memoryPressure: nil)))
            if process == 1 {
                await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: request) }
                continue
            }
            let response = try await pipeline.response(for: request)
            #expect(response.image.hasSamePixels(as: try CoderRegistry.standard().decode(body)))
            #expect(try await response.data() == body)
            #expect(await pipeline.shutdown(within: .seconds(300)))
            pipeline.cache.clearMemory()
            #expect(try await pipeline.response(for: request).origin == .disk)
        }
        #expect(server.requests.count == 2)
        let last = try #require(server.requests.last)
        #expect(last.contains("Range: bytes=\(part)-\r\n"))
        #expect(last.contains("If-Range: \"one\""))
    }
}
