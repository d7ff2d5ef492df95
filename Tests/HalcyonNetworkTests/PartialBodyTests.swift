import Foundation
import Glibc
import Halcyon
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct PartialBodyTests {
    private typealias Fixture = ResumeFixture
    private static var body: Data { ResumeFixture.body }

    @Test(arguments: [0, 1, 1 << 20, (1 << 20) + 1, 3_000_000])
    func aBodyIsWholeWhateverItsSize(_ count: Int) async throws {
        let body = Data(Self.body.prefix(count))
        let fixture = try Fixture(Fixture.proper(body: body))
        let store = MemoryPartialBodyStore()
        #expect(try await fixture.downloader(store).download(fixture.url).data == body)
        #expect(store.makeCount == (count >= 1 << 20 ? 1 : 0))
        #expect(try await fixture.downloader(fixture.store()).download(fixture.url).data == body)
        #expect(try await fixture.downloader(PartialBodyFiles.temporary()).download(fixture.url).data == body)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func shortPartialBodyIsNotKept() async throws {
        let fixture = try Fixture(
            Fixture.broken(at: (16 << 10) - 1), Fixture.broken(at: 16 << 10), Fixture.proper())
        let store = MemoryPartialBodyStore()
        let downloader = fixture.downloader(store)
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(store.keptCounts.isEmpty)
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(store.keptCounts == [16 << 10])
    }

    @Test(arguments: [FileOperation.open, .write, .map], [ENOSPC, EIO])
    func aDiskThatFailsLeavesTheBodyInMemory(_ operation: FileOperation, _ code: Int32) async throws {
        for call in 1...4 {
            let fixture = try Fixture(Fixture.proper())
            let files = FaultInjectingFileSystem()
            files.fail(operation, call: call, with: code)
            files.shorten(writes: 300_000)
            let downloader = fixture.downloader(fixture.store(files: files))
            #expect(try await downloader.download(fixture.url).data == Self.body)
            #expect(fixture.fileNames.isEmpty)
        }
    }

    @Test func aDiskThatGivesNothingBackEndsTheDownload() async throws {
        let fixture = try Fixture(Fixture.proper())
        let files = FaultInjectingFileSystem()
        files.failAlways(.map, with: EIO)
        files.failAlways(.read, with: EIO)
        let downloader = fixture.downloader(fixture.store(files: files))
        let error = await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(error?.reason == .connection(.exhausted))
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func bodyBeyondOpenByteLimitStaysInMemory() async throws {
        let fixture = try Fixture(Fixture.proper())
        var limits = PartialBodyLimits()
        limits.openBytes = 2_500_000
        let store = fixture.store(limits: limits)
        let first = try await fixture.downloader(store).download(fixture.url).data
        let second = try await fixture.downloader(store).download(fixture.url).data
        #expect(first == Self.body)
        #expect(second == Self.body)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func keptPartialBodiesAreLimited() async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000))
        var limits = PartialBodyLimits()
        limits.keptBodies = 2
        let clock = ManualClock()
        let downloader = fixture.downloader(fixture.store(limits: limits, clock: clock.timeSource))
        for path in ["/1", "/2", "/3"] {
            await #expect(throws: DownloadError.self) { try await downloader.download(fixture.server.url(path)) }
            clock.advance(by: .seconds(1))
        }
        #expect(fixture.fileNames.count == 2)
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.server.url("/1")) }
        #expect(fixture.field("Range", of: 4) == nil)
        limits.keptBytes = 1_000_000
        let small = fixture.downloader(fixture.store(limits: limits))
        await #expect(throws: DownloadError.self) { try await small.download(fixture.server.url("/9")) }
        #expect(fixture.fileNames.isEmpty)
    }

    @Test(arguments: [(86_300.0, true), (86_500.0, false)])
    func dayOldPartialBodyIsRemoved(_ seconds: Double, _ isKept: Bool) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let before = Date()
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader(fixture.store()).download(fixture.url)
        }
        let (start, end) = (before, Date())
        // However long it takes from here.
        let later = TimeSource { (isKept ? start : end).addingTimeInterval(seconds) }
        _ = try await fixture.downloader(fixture.store(clock: later)).download(fixture.server.url("/other"))
        #expect(fixture.fileNames.count == (isKept ? 1 : 0))
        _ = try await fixture.downloader(fixture.store(clock: later)).download(fixture.url)
        #expect((fixture.field("Range", of: 3) == "bytes=1500000-") == isKept)
    }

    @Test func partialBodyInUseIsNotTakenOver() async throws {
        let (sent, gate) = (RawServerGate(), RawServerGate())
        let fixture = try Fixture(
            { connection, _ in
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\(Fixture.tag)\r\n")
                try connection.send(Data(Self.body.prefix(2_500_000)))
                gate.block()
                try connection.send(Data(Self.body.dropFirst(2_500_000)))
            }, Fixture.proper())
        let first = Task {
            try await fixture.downloader(fixture.store()).download(DownloadRequest(url: fixture.url)) { progress in
                if progress.received == 2_500_000 { sent.open() }
            }
        }
        await sent.opened()
        #expect(fixture.fileNames.count == 1)
        // The later process's clock makes everything here old, too.
        let later = TimeSource { Date().addingTimeInterval(1e6) }
        for store in [fixture.store(), fixture.store(clock: later)] {
            #expect(try await fixture.downloader(store).download(fixture.url).data == Self.body)
        }
        #expect(fixture.field("Range", of: 2) == nil)
        #expect(fixture.field("Range", of: 3) == nil)
        gate.open()
        #expect(try await first.value.data == Self.body)
        #expect(fixture.fileNames.isEmpty)
    }

    /// Has a body break off, and changes a byte of what is kept of it.
    ///
    /// - Returns: the length of the file.
    private static func damage(at offset: Int, _ fixture: Fixture) async throws -> Int {
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader(fixture.store()).download(fixture.url)
        }
        let name = try #require(fixture.fileNames.first)
        let file = fixture.folder.url.appending(path: name)
        var bytes = try Data(contentsOf: file)
        try #require(bytes.count > offset)
        bytes[offset] ^= 0x41
        try bytes.write(to: file)
        return bytes.count
    }

    @Test(arguments: [0, 9, 20, 60, 300])
    func aDamagedFileIsNotGoneOnWith(at offset: Int) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        _ = try await Self.damage(at: offset, fixture)
        #expect(try await fixture.downloader(fixture.store()).download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 2) == nil)
        #expect(fixture.fileNames.isEmpty)
    }

    /// Behind the label the body's own bytes, in frames of at least a megabyte: what is not as it was written is not used,
    /// nor what follows it.
    @Test(arguments: [4096, 4100, 4110, 4140, 500_000, 1_400_000, 1_504_100])
    func aDamagedBodyIsNotGoneOnWith(at offset: Int) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        #expect(try await Self.damage(at: offset, fixture) > 1_504_100)
        #expect(try await fixture.downloader(fixture.store()).download(fixture.url).data == Self.body)
        let start = fixture.field("Range", of: 2).flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        #expect(start.map { $0 >= 1 << 20 && $0 < 1_500_000 } ?? (offset < 1 << 20 || offset == 1_400_000))
        #expect(fixture.fileNames.isEmpty)
    }

    @Test(arguments: [0, 20, 4096, 4120, 1_000_000, 1_500_000])
    func aBodyThatIsCutShortIsNotGoneOnWith(at length: Int) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader(fixture.store()).download(fixture.url)
        }
        let name = try #require(fixture.fileNames.first)
        let path = fixture.folder.url.appending(path: name).path(percentEncoded: false)
        #expect(truncate(path, length) == 0)
        #expect(try await fixture.downloader(fixture.store()).download(fixture.url).data == Self.body)
        #expect(fixture.fileNames.isEmpty)
    }

    /// Neither what is shown on the way nor the result lies in a file that anybody else can open: reading it from a file
    /// that was cut short would end the process.
    @Test(arguments: [false, true])
    func aNeighbourMayCutWhatArrives(isResumed: Bool) async throws {
        let (sent, gate) = (RawServerGate(), RawServerGate())
        let slowly: Fixture.Script = { connection, head in
            let first = Fixture.start(head) ?? 0
            let range = "Content-Range: bytes \(first)-2999999/3000000\r\n"
            try connection.send(
                "HTTP/1.1 \(first > 0 ? "206 Partial Content" : "200 OK")\r\nContent-Length: \(3_000_000 - first)\r\n"
                    + "\(first > 0 ? range : "")\(Fixture.tag)\r\n")
            try connection.send(Data(Self.body[first..<2_900_000]))
            gate.block()
            try connection.send(Data(Self.body.dropFirst(2_900_000)))
        }
        let fixture = isResumed ? try Fixture(Fixture.broken(at: 1_500_000), slowly) : try Fixture(slowly)
        let store = fixture.store()
        if isResumed {
            await #expect(throws: DownloadError.self) { try await fixture.downloader(store).download(fixture.url) }
        }
        let shown = Lock<ReceivedBody?>(nil)
        var request = DownloadRequest(url: fixture.url)
        request.exposesBody = true
        let task = Task { [request] in
            try await fixture.downloader(store).download(request) { progress in
                shown.withLock { $0 = progress.body }
                if progress.received == 2_900_000 { sent.open() }
            }
        }
        await sent.opened()
        let open = fixture.fileNames.map { name in
            let path = fixture.folder.url.appending(path: name).path(percentEncoded: false)
            #expect(truncate(path, 0) == 0)
            return Glibc.open(path, O_RDWR | O_CLOEXEC)
        }
        defer { for file in open { close(file) } }
        #expect(open.count == 1)
        func bytes() -> Data { shown.withLock { $0?.chunks().reduce(Data(), +) } ?? Data() }
        #expect(bytes() == Self.body.prefix(2_900_000))
        gate.open()
        let data = try await task.value.data
        for file in open { #expect(ftruncate(file, 0) == 0) }
        #expect(data == Self.body)
        #expect(bytes() == Self.body)
        #expect(!isResumed || fixture.field("Range", of: 2) == "bytes=1500000-")
        #expect(fixture.fileNames.isEmpty)
    }

    /// As on a file system that has no files without names: bytes are read then.
    @Test func withoutNamelessFilesNothingIsMapped() async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let files = FaultInjectingFileSystem()
        // The first of each body, and before the second what is kept.
        files.fail(.open, call: 1, with: EOPNOTSUPP)
        let downloader = fixture.downloader(fixture.store(files: files))
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        files.fail(.open, call: 2, with: EOPNOTSUPP)
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 2) == "bytes=1500000-")
        #expect(files.calls(of: .map) == 0)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func aFileHoldsNoCredentialAndIsItsOwnersAlone() async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000, Fixture.tag + "Set-Cookie: crumb\r\n"))
        let request = DownloadRequest(url: fixture.url, headers: ["Authorization": "Bearer 5ecret"])
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader(fixture.store()).download(request)
        }
        let name = try #require(fixture.fileNames.first)
        let path = fixture.folder.url.appending(path: name)
        let head = String(decoding: try Data(contentsOf: path).prefix(4096), as: UTF8.self)
        #expect(head.contains("image\\/png") || head.contains("image/png"))
        #expect(!head.contains("5ecret"))
        #expect(!head.contains("crumb"))
        let mode = try FileManager.default.attributesOfItem(atPath: path.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// By a name that another folder has another one for.
    @Test func inACacheABodyIsFoundByItsUserAlone() async throws {
        let broken = Fixture.broken(at: 1_500_000)
        let fixture = try Fixture(broken, broken, broken, Fixture.proper())
        let other = TemporaryFolder()
        func download(_ user: String, in folder: URL) async throws -> Data {
            // A process of its own each time.
            let store = PartialBodyFiles(in: DiskCache(folder: folder))
            let request = DownloadRequest(url: fixture.url, headers: ["Authorization": "Bearer \(user)"])
            return try await fixture.downloader(store).download(request).data
        }
        func names(in folder: URL) -> [String] {
            let path = folder.appending(path: "partial").path
            return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).map { String($0.prefix(32)) }
        }
        for (user, folder) in [("alice", other.url), ("alice", fixture.folder.url), ("bob", fixture.folder.url)] {
            await #expect(throws: DownloadError.self) { try await download(user, in: folder) }
        }
        #expect(names(in: other.url).count == 1 && Set(names(in: fixture.folder.url)).count == 2)
        #expect(Set(names(in: other.url)).isDisjoint(with: names(in: fixture.folder.url)))
        #expect(try await download("alice", in: fixture.folder.url) == Fixture.body)
        #expect((2...4).map { fixture.field("Range", of: $0) } == [nil, nil, "bytes=1500000-"])
        #expect(names(in: fixture.folder.url).count == 1)
    }

    @Test func foreignFilesInPartialBodyFolderAreKept() async throws {
        let fixture = try Fixture(Fixture.proper())
        try FileManager.default.createDirectory(at: fixture.folder.url, withIntermediateDirectories: true)
        let names = ["notes.txt", "0123456789abcdef0123456789abcdef", "-"]
        for name in names { try Data("x".utf8).write(to: fixture.folder.url.appending(path: name)) }
        let later = TimeSource { Date().addingTimeInterval(1e6) }
        let store = fixture.store(clock: later)
        #expect(try await fixture.downloader(store).download(fixture.url).data == Self.body)
        await store.removeAll()
        #expect(fixture.fileNames == names.sorted())
    }

    @Test func aFinishedBodyKeepsItsPlaceUntilThereIsRoom() async throws {
        let transport = ScriptedTransport { _ in .data(Data(count: 800)) }
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.transfers = 1
        let downloader = ImageDownloader(configuration)
        let budget = ByteBudget(capacity: 1000)
        let results = Lock<[DownloadResult]>([])
        let tasks = (0..<3).map { number in
            Task {
                var request = DownloadRequest(url: URL(web: "http://one.test/\(number)"))
                request.bodyBudget = budget
                let result = try await downloader.download(request)
                results.withLock { $0.append(result) }
            }
        }
        while budget.waitingCount == 0 || results.withLock({ $0.isEmpty }) { await Task.yield() }
        #expect(results.withLock { $0.count } == 1)
        #expect(transport.requestCount == 2)
        for ended in 2...3 {
            results.withLock { $0[ended - 2].hold = nil }
            while results.withLock({ $0.count }) < ended { await Task.yield() }
        }
        results.withLock { $0 = [] }
        for task in tasks { try await task.value }
        // A transfer's own task lets go of its result a moment after that is handed over.
        while budget.available < 1000 { await Task.yield() }
    }
}
