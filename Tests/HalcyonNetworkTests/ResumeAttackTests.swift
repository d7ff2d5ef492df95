import Foundation
import Glibc
import Halcyon
import HalcyonCache
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Servers, disks and processes that misbehave towards a body that is resumed.
@Suite(.timeLimit(.minutes(5)))
struct ResumeAttackTests {
    private typealias Fixture = ResumeFixture
    private static var body: Data { ResumeFixture.body }

    private static func head(_ status: String, _ fields: String) -> String { "HTTP/1.1 \(status)\r\n\(fields)\r\n" }

    // MARK: - Servers

    static let misfits: [(String, ResumeFixture.Script)] = [
        ("an unknown total of another length", rest("bytes 1500000-2999998/*")),
        ("two bytes of an unknown total", rest("bytes 0-1/*")),
        ("the largest number", rest("bytes 1500000-9223372036854775807/9223372036854775807")),
        ("one past it", rest("bytes 1500000-9223372036854775807/9223372036854775808")),
        ("backwards", rest("bytes 1500000-1499999/3000000")),
        ("a sign", rest("bytes +1500000-2999999/3000000")),
        ("other digits", rest("bytes \u{661}500000-2999999/3000000")),
        ("unsatisfied", rest("bytes */3000000")),
        ("two ranges", rest("bytes 1500000-2999999/3000000\r\nContent-Range: bytes 0-1/3000000")),
        ("in several parts", rest("", "Content-Type: multipart/byteranges; boundary=x\r\n")),
        ("a weak tag", rest("bytes 1500000-2999999/3000000", "ETag: W/\"one\"\r\n")),
    ]

    private static func rest(_ range: String, _ fields: String = ResumeFixture.tag) -> ResumeFixture.Script {
        ResumeFixture.part(1_500_000, fields, range: range.isEmpty ? "" : "Content-Range: \(range)\r\n")
    }

    @Test(arguments: misfits)
    func mismatchedPartIsNeverAppended(_ what: String, _ answer: @escaping ResumeFixture.Script) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), answer, Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.server.requests.count == 3)
        #expect(fixture.field("Range", of: 3) == nil)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func partWithUnknownTotalIsAccepted() async throws {
        let fixture = try Fixture(
            Fixture.broken(at: 1_500_000), Fixture.part(1_500_000, range: "Content-Range: bytes 1500000-2999999/*\r\n"))
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.server.requests.count == 2)
    }

    /// In pieces, so that no length ends it.
    @Test(arguments: [-1, 1, 5_000_000])
    func partOfWrongLengthIsRejected(by difference: Int) async throws {
        let fixture = try Fixture(
            Fixture.broken(at: 1_500_000),
            { connection, _ in
                let count = 1_500_000 + difference
                let range = "Content-Range: bytes 1500000-2999999/3000000\r\n"
                try connection.send(
                    Self.head("206 Partial Content", "Transfer-Encoding: chunked\r\n\(Fixture.tag)\(range)"))
                try connection.send("\(String(count, radix: 16))\r\n")
                try? connection.send(Data((Self.body.dropFirst(1_500_000) + Data(count: 5_000_000)).prefix(count)))
                try? connection.send("\r\n0\r\n\r\n")
            }, Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        for _ in 0..<2 {
            await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func unrequestedPartialContentIsRejected() async throws {
        let fixture = try Fixture(Fixture.part(0), Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        let error = await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(error?.reason == .httpStatus(206))
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func aRedirectLeadsToItsOwnBeginning() async throws {
        let fixture = try Fixture(
            { connection, _ in
                try connection.answer(Data(), status: "302 Found", fields: "Location: /b\r\n")
            }, Fixture.broken(at: 1_500_000),
            { connection, _ in
                try connection.answer(Data(), status: "302 Found", fields: "Location: /b\r\n")
            }, Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 3) == nil)
        #expect(fixture.field("Range", of: 4) == "bytes=1500000-")
    }

    @Test func aRedirectInPlaceOfTheRestIsFollowedWithoutIt() async throws {
        let other = Fixture.body(seed: 4)
        let fixture = try Fixture(
            Fixture.broken(at: 1_500_000),
            { connection, _ in
                try connection.answer(Data(), status: "307 Temporary Redirect", fields: "Location: /b\r\n")
            }, Fixture.proper(body: other))
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == other)
        #expect(fixture.field("Range", of: 2) == "bytes=1500000-")
        #expect(fixture.field("Range", of: 3) == nil)
        #expect(fixture.field("If-Range", of: 3) == nil)
    }

    // MARK: - Hooks

    /// The hook does not support parts.
    @Test(arguments: [true, false])
    func aResponseHookThatWantsTheWholeGetsIt(throwing: Bool) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let downloader = fixture.downloader(fixture.store()) { configuration in
            configuration.hooks.response = { head in
                if head.status == 200 { return head }
                if throwing { throw CodecError.notAnImage("a part") }
                return nil
            }
        }
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 2) == "bytes=1500000-")
        #expect(fixture.field("Range", of: 3) == nil)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func aResponseHookThatRefusesAllIsAskedTwiceAndNoMore() async throws {
        let refuses = Lock(false)
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let downloader = fixture.downloader(fixture.store()) { configuration in
            configuration.hooks.response = { head in refuses.withLock { $0 } ? nil : head }
        }
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        refuses.withLock { $0 = true }
        let error = await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(error?.reason == .refused("the response hook"))
        #expect(fixture.server.requests.count == 3)
    }

    @Test func aDataHookSeesTheWholeOnce() async throws {
        let seen = Lock<[Int]>([])
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let downloader = fixture.downloader(fixture.store()) { configuration in
            configuration.hooks.data = { data, head in
                seen.withLock { $0 += [data.count, head.status] }
                return Data(data.reversed())
            }
        }
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == Data(Self.body.reversed()))
        #expect(seen.withLock { $0 } == [3_000_000, 200])
    }

    // MARK: - Disks

    /// The beginning of what a broken write brought is in the file: nothing may be put behind it.
    @Test(arguments: 1...3)
    func appendAfterTornWriteFails(_ call: Int) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let files = FaultInjectingFileSystem()
        let (store, found) = (fixture.store(files: files), CapturingStore(fixture.store()))
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader(found).download(fixture.url)
        }
        let made = try #require(found.made)
        found.take(made.key)?.body.discard()
        let body = try store.make(for: made.key, made.record)
        try body.append(Data(Self.body.prefix(700_000)))
        // Each append is several writes.
        files.shorten(writes: 300_000)
        files.fail(.write, call: call, with: ENOSPC)
        let rest = Data(Self.body[700_000..<1_600_000])
        #expect(throws: (any Error).self) { try body.append(rest) }
        #expect(body.count == 700_000)
        files.failNothing()
        #expect(throws: (any Error).self) { try body.append(rest) }
        body.keep()
        // The kept bytes are the true beginning, and no more.
        let kept = try #require(store.take(made.key))
        #expect(kept.body.count == 700_000)
        #expect(try kept.body.bytes(0..<700_000) == Data(Self.body.prefix(700_000)))
        kept.body.discard()
        #expect(fixture.fileNames.isEmpty)
    }

    /// A body whose journal cannot be written on arrives, and is not kept.
    @Test(arguments: 4...7)
    func aJournalThatBreaksOffIsGone(_ call: Int) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000))
        let files = FaultInjectingFileSystem()
        let found = CapturingStore(fixture.store())
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader(found).download(fixture.url)
        }
        let made = try #require(found.made)
        found.take(made.key)?.body.discard()
        let store = fixture.store(files: files)
        let body = try store.make(for: made.key, made.record)
        files.shorten(writes: 300_000)
        files.fail(.write, call: call, with: ENOSPC)
        try body.append(Data(Self.body.prefix(900_000)))
        try body.append(Data(Self.body[900_000..<1_000_000]))
        #expect(try body.bytes(0..<1_000_000) == Data(Self.body.prefix(1_000_000)))
        body.keep()
        #expect(fixture.fileNames.isEmpty)
        #expect(store.take(made.key).map { $0.body.count } == nil)
    }

    @Test func everyCallOfTheDiskMayFailInTheMiddleOfAResume() async throws {
        for operation in [FileOperation.open, .status, .read, .write, .map, .unlink, .close, .list] {
            for call in 1...3 {
                let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
                let files = FaultInjectingFileSystem()
                await #expect(throws: DownloadError.self) {
                    try await fixture.downloader(fixture.store()).download(fixture.url)
                }
                files.fail(operation, call: call, with: EIO)
                let result = try await fixture.downloader(fixture.store(files: files)).download(fixture.url)
                #expect(result.data == Self.body, "\(operation) \(call)")
            }
        }
    }

    // MARK: - Several at once

    @Test func onlyOneOfTwoConcurrentDownloadsResumes() async throws {
        let (asked, gate) = (RawServerGate(), RawServerGate())
        let fixture = try Fixture(
            Fixture.broken(at: 1_500_000),
            { connection, head in
                asked.open()
                gate.block()
                try Fixture.proper()(connection, head)
            }, Fixture.proper())
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader(fixture.store()).download(fixture.url)
        }
        let stores = [fixture.store(), fixture.store()]
        let first = Task { try await fixture.downloader(stores[0]).download(fixture.url).data }
        await asked.opened()
        #expect(try await fixture.downloader(stores[1]).download(fixture.url).data == Self.body)
        gate.open()
        #expect(try await first.value == Self.body)
        #expect(fixture.field("Range", of: 2) == "bytes=1500000-")
        #expect(fixture.field("Range", of: 3) == nil)
        #expect(fixture.fileNames.isEmpty)
    }

    /// The beginning that a killed process has written is continued by another one.
    @Test func aProcessThatIsKilledLeavesABeginning() async throws {
        let hold = RawServerGate()
        let fixture = try Fixture(
            { connection, _ in try connection.answer(Data([7])) },
            { connection, _ in
                try connection.send(Self.head("200 OK", "Content-Length: 3000000\r\n\(Fixture.tag)"))
                try connection.send(Data(Self.body.prefix(2_500_000)))
                hold.block()
            }, Fixture.proper())
        defer { hold.open() }
        let folder = fixture.folder.url.path(percentEncoded: false)
        let large = fixture.url.absoluteString
        let program = try TestProgram(
            try Spawn.builtExecutable("BodyMemory"),
            ["file", large, fixture.server.url("/small").absoluteString, "-", folder])
        while !Self.hasWholeFrame(fixture), program.isRunning { await Task.yield() }
        program.kill()
        let status = await program.ended()
        #expect(status == -SIGKILL)
        #expect(fixture.fileNames.count == 1)
        hold.open()
        // As the same program would.
        let result = try await fixture.downloader(fixture.store()) {
            $0.headers = ImageDownloader.Configuration.defaultHeaders(application: "BodyMemory")
        }.download(fixture.url)
        #expect(result.data == Self.body)
        let start = fixture.field("Range", of: 3).flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
        #expect(try #require(start) >= 1 << 20)
        #expect(fixture.fileNames.isEmpty)
    }

    /// Whether the only file, whose label takes a page, holds all of its first frame: a length, a hash of 32 characters, and
    /// a megabyte or what else was pending. A frame grows in the file as it is written.
    private static func hasWholeFrame(_ fixture: ResumeFixture) -> Bool {
        guard let name = fixture.fileNames.first,
            let data = try? Data(contentsOf: fixture.folder.url.appending(path: name)), data.count > 4096 + 40
        else { return false }
        let length = data[4096..<4104].reversed().reduce(0) { $0 << 8 | Int($1) }
        return length > 0 && data.count >= 4096 + 40 + length
    }

    @Test func aResumeThatIsCancelledBeforeItsAnswerLosesNothing() async throws {
        let asked = RawServerGate()
        let fixture = try Fixture(
            Fixture.broken(at: 1_500_000),
            { connection, _ in
                asked.open()
                connection.waitForClose()
            }, Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        let task = Task { try await downloader.download(fixture.url) }
        await asked.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        while downloader.runningCount > 0 { await Task.yield() }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 3) == "bytes=1500000-")
    }

    /// Records the keys that bodies were made for.
    private final class CapturingStore: PartialBodyStore {
        private let base: PartialBodyFiles
        private let last = Lock<(key: PartialBodyKey, record: PartialBodyRecord)?>(nil)

        init(_ base: PartialBodyFiles) { self.base = base }

        var made: (key: PartialBodyKey, record: PartialBodyRecord)? { last.withLock { $0 } }

        func make(for key: PartialBodyKey?, _ record: PartialBodyRecord?) throws -> any PartialBody {
            if let key, let record { last.withLock { $0 = (key, record) } }
            return try base.make(for: key, record)
        }

        func mayHold(_ key: PartialBodyKey) -> Bool { base.mayHold(key) }
        func take(_ key: PartialBodyKey) -> KeptBody? { base.take(key) }
    }
}
