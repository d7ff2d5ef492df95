import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// Removed entries do not come back, and leave nothing behind.
@Suite(.timeLimit(.minutes(5)))
struct ClearedCacheTests {
    private static func files(in folder: URL) -> [String] {
        let paths = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (paths.map { $0.compactMap { $0 as? URL } } ?? []).filter { !$0.hasDirectoryPath }
            .map(\.lastPathComponent).sorted()
    }

    private static func downloader(_ store: PartialBodyFiles) -> ImageDownloader {
        var configuration = ImageDownloader.Configuration(transport: PatientTransport())
        configuration.retry = .never
        configuration.partialBodies = store
        return ImageDownloader(configuration)
    }

    /// Also with a store that has read the folder before.
    @Test func clearingTheDiskRemovesWhatIsKeptOfDownloads() async throws {
        let folder = TemporaryFolder()
        let body = Data(repeating: 7, count: 3_000_000)
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\nETag: \"a\"\r\n\r\n")
                try connection.send(Data(body.prefix(2_000_000)))
                connection.close()
            }
        }
        defer { server.stop() }
        let cache = ImageCache(disk: DiskCache(folder: folder.url))
        let disk = try #require(cache.disk)
        let downloader = Self.downloader(PartialBodyFiles(in: disk))
        await #expect(throws: DownloadError.self) { try await downloader.download(server.url("/a")) }
        let partial = folder.url.appending(path: "partial")
        #expect(Self.files(in: partial).count == 1)
        // Files that are not the cache's own stay.
        try Data([1]).write(to: partial.appending(path: "notes"))
        await cache.clearDisk()
        #expect(Self.files(in: partial) == ["notes"])
        await #expect(throws: DownloadError.self) { try await downloader.download(server.url("/a")) }
        #expect(server.requests.allSatisfy { !$0.contains("Range:") })
    }

    /// The transfer continues, in a file without a name, and a partial body of it later is not found.
    @Test(arguments: [true, false])
    func aDownloadOnItsWayOutlivesTheClearingButLeavesNothing(isBroken: Bool) async throws {
        let folder = TemporaryFolder()
        let (sent, gate) = (RawServerGate(), RawServerGate())
        let body = Data(repeating: 7, count: 3_000_000)
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\nETag: \"a\"\r\n\r\n")
                try connection.send(Data(body.prefix(2_000_000)))
                gate.block()
                if isBroken { return connection.close() }
                try connection.send(Data(body.dropFirst(2_000_000)))
            }
        }
        defer { server.stop() }
        let disk = DiskCache(folder: folder.url)
        let downloader = Self.downloader(PartialBodyFiles(in: disk))
        let load = Task {
            try await downloader.download(DownloadRequest(url: server.url("/a"))) { progress in
                if progress.received == 2_000_000 { sent.open() }
            }
        }
        await sent.opened()
        #expect(Self.files(in: folder.url).count == 1)
        await disk.removeAll()
        #expect(Self.files(in: folder.url).isEmpty)
        gate.open()
        if isBroken {
            await #expect(throws: DownloadError.self) { try await load.value }
        } else {
            #expect(try await load.value.data == body)
        }
        #expect(Self.files(in: folder.url).isEmpty)
        _ = try? await downloader.download(server.url("/a"))
        #expect(server.requests.allSatisfy { !$0.contains("Range:") })
    }

    @Test func aStoreRemovesWhatOthersHaveKeptSince() async throws {
        let folder = TemporaryFolder()
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\nETag: \"a\"\r\n\r\n")
                try connection.send(Data(count: 2_000_000))
                connection.close()
            }
        }
        defer { server.stop() }
        let stores = [PartialBodyFiles(folder: folder.url), PartialBodyFiles(folder: folder.url)]
        await stores[0].removeAll()
        await #expect(throws: DownloadError.self) { try await Self.downloader(stores[1]).download(server.url("/a")) }
        #expect(Self.files(in: folder.url).count == 1)
        await stores[0].removeAll()
        #expect(Self.files(in: folder.url).isEmpty)
    }

    /// One process has looked up what the source's encodings have in common, another removes the source, and the first
    /// one stores: the encodings from before the removal must not count again.
    @Test(arguments: [true, false])
    func encodeSpanningRemovalRestoresNothing(bySameProcess: Bool) async throws {
        let folder = PipelineFixture.temporaryFolder()
        let fixture = PipelineFixture(folder: folder)
        let url = try fixture.serve("png/rgb8.png")
        let request = ImageRequest(url)
        _ = try await fixture.pipeline.encodedImage(for: request, as: .png)
        await fixture.pipeline.shutdown(within: .seconds(300))
        // The second load waits for its bytes, with the record of the encodings that it has read from the disk.
        let second = PipelineFixture(folder: folder)
        let gate = ScriptedTransportGate()
        try second.serve("png/rgb8.png", gate: gate)
        var anew = request
        anew.cachePolicy.reads = [.diskProcessed]
        let load = Task { [anew] in try await second.pipeline.encodedImage(for: anew, as: .jpeg()) }
        while second.transport.requestCount == 0 { await Task.yield() }
        await (bySameProcess ? second : fixture).pipeline.cache.remove(url)
        gate.open()
        _ = try await load.value
        await second.pipeline.shutdown(within: .seconds(300))
        let third = PipelineFixture(folder: folder)
        try third.serve("png/rgb8.png")
        var only = request
        only.cachePolicy.reads = [.diskProcessed]
        #expect(try await third.pipeline.encodedImage(for: only, as: .png).origin == .network)
    }
}
