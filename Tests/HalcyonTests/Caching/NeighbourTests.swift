import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// A process with the same rights changes the files of a cache at will, while they are read: no crash, no wrong
/// image, no error; only misses.
@Suite(.timeLimit(.minutes(30)))
struct NeighbourTests {
    /// `HALCYON_SOAK` runs the full count.
    private static let rounds = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 60 : 20_000
    private static let files = ["png/rgb8.png", "jpeg/gray.jpg", "gif/still.gif", "webp/lossless.webp"]

    @Test func everyImageIsTheRightOne() async throws {
        let folder = TemporaryFolder()
        let transport = ScriptedTransport { request in
            let data = try? TestFiles.data(String(request.url.path(percentEncoded: false).dropFirst()))
            return .data(data ?? Data(), headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
        }
        let fixture = PipelineFixture(folder: folder.url, transport: transport)
        let pixels = try Self.files.map { try Image(data: TestFiles.data($0)).size }
        let neighbour = Neighbour(folder: folder.url, seed: 20)
        let (begun, done) = (ScriptedTransportGate(), ScriptedTransportGate())
        async let mischief: Int = {
            var count = 0
            while !done.isOpen {
                neighbour.disturb()
                if neighbour.disturbed > 0 { begun.open() }
                count += 1
                await Task.yield()
            }
            return count
        }()
        for round in 0..<Self.rounds {
            try await withThrowingTaskGroup { group in
                for (index, file) in Self.files.enumerated() {
                    group.addTask {
                        var request = ImageRequest(PipelineFixture.url(file))
                        if round % 2 == 1 { request.network.credential = .bearer("alice") }
                        request.cachePolicy.waitsForStore = round % 3 == 0
                        request.cachePolicy.readsDiskSynchronously = round % 5 == 0
                        if round % 4 > 1 { request.processors = [.flip(.horizontal)] }
                        let image = try await fixture.pipeline.image(for: request)
                        #expect(image.size == pixels[index], "\(file)")
                        let bytes = try await fixture.pipeline.data(for: request)
                        #expect(try bytes == TestFiles.data(file))
                        if round % 7 == 0 {
                            let encoded = try await fixture.pipeline.encodedImage(for: request, as: .png)
                            #expect(encoded.size == pixels[index], "\(file)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            if round == 0 { try await begun.wait() }
            fixture.pipeline.cache.clearMemory()
            if round % 10 == 9 { _ = await fixture.pipeline.cache.disk?.sweep() }
        }
        done.open()
        #expect(await mischief > 0)
        #expect(neighbour.disturbed > 0)
        // It is a cache again once it is left alone.
        try? FileManager.default.removeItem(at: folder.url)
        var request = ImageRequest(PipelineFixture.url(Self.files[0]))
        request.cachePolicy.waitsForStore = true
        _ = try await fixture.pipeline.image(for: request)
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: request).origin == .disk)
    }
}

extension NeighbourTests {
    /// Bodies that break off, and are resumed from files that another process changes meanwhile: each is whole in the end.
    @Test func everyBodyThatBrokeOffIsTheRightOne() async throws {
        let folder = TemporaryFolder()
        let names = 0..<6
        let bodies = names.map { seed in
            var random = SplitMix(state: UInt64(seed))
            return Data((0..<40_000).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } })
        }
        let breaks = Lock(0)
        let transport = ScriptedTransport { request in
            guard let body = Int(request.url.lastPathComponent).map({ bodies[$0] }) else { return .status(404) }
            let range = request.headers["Range"]?.split(whereSeparator: { "=-".contains($0) }).last
            let first = range.flatMap { Int($0) } ?? 0
            let length = body.count - first
            // Every other answer breaks off in the middle.
            let isBroken = breaks.withLock { breaks in
                breaks += 1
                return breaks % 2 == 1
            }
            var headers: HTTPHeaders = ["ETag": "\"1\"", "Content-Length": "\(length)"]
            if first > 0 { headers.set("Content-Range", "bytes \(first)-\(body.count - 1)/\(body.count)") }
            var steps: [ScriptedTransport.Answer.Step] = [.chunk(Data(body.dropFirst(first).prefix(length / 2)))]
            steps.append(
                isBroken
                    ? .fail(DownloadError(.connection(.reset), url: request.url))
                    : .chunk(Data(body.suffix(length - length / 2))))
            return .init(status: first > 0 ? 206 : 200, headers: headers, steps: steps)
        }
        let neighbour = Neighbour(folder: folder.url, seed: 9)
        let (begun, done) = (ScriptedTransportGate(), ScriptedTransportGate())
        async let mischief: Void = {
            while !done.isOpen {
                neighbour.disturb()
                if neighbour.disturbed > 0 { begun.open() }
                await Task.yield()
            }
        }()
        /// Each attempt has a store of its own, as another process would.
        @Sendable func expectWhole(_ name: Int, isUsers: Bool) async throws {
            var configuration = ImageDownloader.Configuration(transport: transport)
            configuration.retry = .never
            var request = DownloadRequest(url: URL(web: "http://images.test/\(name)"))
            if isUsers { request.credential = .bearer("alice") }
            var data: Data?
            while data == nil {
                configuration.partialBodies = PartialBodyFiles(in: DiskCache(folder: folder.url))
                do {
                    data = try await ImageDownloader(configuration).download(request).data
                } catch let error as DownloadError {
                    #expect(error.reason == .connection(.reset))
                }
            }
            #expect(data == bodies[name])
        }
        for round in 0..<(Self.rounds / 3) {
            try await withThrowingTaskGroup { group in
                for name in names {
                    group.addTask { try await expectWhole(name, isUsers: round % 2 == 1) }
                }
                try await group.waitForAll()
            }
            if round == 0 { try await begun.wait() }
        }
        done.open()
        await mischief
        #expect(neighbour.disturbed > 0)
        // They are gone on with again once they are left alone: of two downloads one breaks off first.
        try? FileManager.default.removeItem(at: folder.url)
        let count = transport.requestCount
        for _ in 0..<2 { try await expectWhole(0, isUsers: true) }
        #expect(transport.requests.dropFirst(count).contains { $0.headers["Range"] != nil })
    }
}

/// Disturbs one file or folder of a cache at a time.
/// `@unchecked Sendable` because one task alone disturbs, and it has ended when `disturbed` is read.
private final class Neighbour: @unchecked Sendable {
    private let folder: String
    /// The folder that links lead to: every write through a link takes place there.
    private let elsewhere: String
    /// Only `disturb` uses it, which is called by one task.
    private var random: SplitMix
    private(set) var disturbed = 0

    init(folder: URL, seed: UInt64) {
        self.folder = folder.path
        elsewhere = folder.path + "-elsewhere"
        random = SplitMix(state: seed)
        try? FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: elsewhere)
    }

    func disturb() {
        guard let names = try? FileManager.default.subpathsOfDirectory(atPath: folder), !names.isEmpty else { return }
        disturbed += 1
        let (path, other) = (pick(names), pick(names))
        switch Int.random(in: 0..<16, using: &random) {
        case 0: truncate(path, 0)
        case 1: truncate(path, Int.random(in: 1..<600, using: &random))
        case 2: truncate(path, 100_000)
        case 3, 4: write(path, at: Int.random(in: 0..<700, using: &random))
        case 5: write(path, at: 1 << 20)
        case 6: unlink(path)
        case 7: chmod(path, 0)
        case 8: link(path, other + "~")
        case 9: rename(path, other)
        case 10:
            // Two change places.
            rename(path, path + "~")
            rename(other, path)
            rename(path + "~", other)
        case 11: replace(path) { mkfifo($0, 0o600) }
        case 12: replace(path) { symlink(other, $0) }
        case 13: replace(path) { mkdir($0, 0o700) }
        case 14: truncate(folder + "/CREDENTIAL.KEY", 7)
        default: replaceFolder(pick(names.filter { !$0.contains("/") }))
        }
    }

    private func pick(_ names: [String]) -> String {
        "\(folder)/\(names[Int.random(in: names.indices, using: &random)])"
    }

    private func replace(_ path: String, _ make: (String) -> Int32) {
        unlink(path)
        _ = make(path)
    }

    private func replaceFolder(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: _ = FileManager.default.createFile(atPath: path, contents: Data("no folder".utf8))
        case 1: symlink(elsewhere, path)
        default: break
        }
    }

    private func write(_ path: String, at offset: Int) {
        let file = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { return }
        pwrite(file, "other bytes", 11, offset)
        close(file)
    }
}
