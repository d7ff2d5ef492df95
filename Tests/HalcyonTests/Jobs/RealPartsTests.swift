import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// The pipeline with nothing scripted: libcurl, a server on the loopback, files.
@Suite struct RealPartsTests {
    private func pipeline(_ folder: URL) -> ImagePipeline {
        ImagePipeline(
            configuration: .patient(
                cache: ImageCache(disk: DiskCache(folder: folder), memoryPressure: nil), coders: .standard()))
    }

    @Test func coldDiskAndWarm() async throws {
        let folder = PipelineFixture.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["jpeg/progressive.jpg", "png/palette8.png", "webp/lossy-alpha.webp", "gif/animated.gif"]
        let (server, gate) = (try await LoopbackServer(), ScriptedTransportGate())
        for file in files {
            let data = try TestFiles.data(file)
            server.route("/" + file) { _ in
                try await gate.wait()
                return .init(headers: ["Cache-Control": "max-age=86400"], body: data)
            }
        }
        let pipeline = pipeline(folder)
        for (pass, origin) in [ImageOrigin.network, .disk, .memory].enumerated() {
            // From disk for both requests, also if one is there before the other begins.
            let cache = origin == .disk ? CachePolicy(writes: .diskOriginal) : CachePolicy()
            try await withThrowingTaskGroup(of: ImageOrigin.self) { group in
                for file in files + files {
                    group.addTask {
                        try await pipeline.response(for: ImageRequest(server.url("/" + file), cachePolicy: cache))
                            .origin
                    }
                }
                while pass == 0, await !pipeline.isWaitingForBytes(files.count * 2) { await Task.yield() }
                gate.open()
                for try await found in group { #expect(found == origin, "pass \(pass)") }
            }
            await pipeline.configuration.cache.disk?.flush()
            if pass == 0 { pipeline.configuration.cache.clearMemory() }
            for file in files where pass == 1 { _ = try await pipeline.image(for: server.url("/" + file)) }
        }
        #expect(server.requests.count == files.count)
        let accept = try #require(server.requests.first?.headers["accept"])
        for type in ["image/jpeg", "image/png", "image/webp", "image/gif", "*/*"] { #expect(accept.contains(type)) }
        let agent = try #require(server.requests.first?.headers["user-agent"])
        #expect(agent.hasSuffix("Halcyon/\(HalcyonVersion.current)"))
        await server.stop()
    }

    @Test func aBodyThatIsShorterThanItSaysIsAnErrorAndIsNotStored() async throws {
        let folder = PipelineFixture.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = try TestFiles.data("png/rgb8.png")
        let server = try RawServer { connection in
            _ = connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(data.count + 1)\r\n\r\n")
            try connection.send(data)
        }
        let pipeline = pipeline(folder)
        var request = ImageRequest(server.url())
        request.network.retries = 0
        await #expect {
            try await pipeline.response(for: request)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "connection"
        }
        #expect(await pipeline.configuration.cache.disk?.count() == 0)
        server.stop()
    }

    @Test func aCancelledLoadClosesItsConnection() async throws {
        let folder = PipelineFixture.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let closed = RawServerGate()
        let asked = RawServerGate()
        let server = try RawServer { connection in
            _ = connection.readRequest()
            asked.open()
            connection.waitForClose()
            closed.open()
        }
        let pipeline = pipeline(folder)
        let task = pipeline.task(for: ImageRequest(server.url()))
        await asked.opened()
        task.cancel()
        await closed.opened()
        await #expect(throws: CancellationError.self) { try await task.response }
        server.stop()
    }
}
