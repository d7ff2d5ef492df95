import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResumeTests {
    private typealias Fixture = ResumeFixture
    private static var body: Data { ResumeFixture.body }

    @Test(arguments: [100_000, 1 << 20, 1_500_000, 2_999_999], [false, true])
    func interruptedDownloadResumesWithRangeRequest(at count: Int, inAnotherProcess: Bool) async throws {
        let fixture = try Fixture(Fixture.broken(at: count), Fixture.part(count, "ETag: \"one\"\r\n"))
        let first = fixture.store()
        let error = await #expect(throws: DownloadError.self) {
            try await fixture.downloader(first).download(fixture.url)
        }
        #expect(error?.reason == .incompleteBody(received: count, expected: Self.body.count))
        #expect(fixture.fileNames.count == 1)
        let progress = Lock<[DownloadProgress]>([])
        let second = inAnotherProcess ? fixture.store() : first
        let result = try await fixture.downloader(second).download(DownloadRequest(url: fixture.url)) { step in
            progress.withLock { $0.append(step) }
        }
        #expect(result.data == Self.body)
        #expect(fixture.field("Range", of: 2) == "bytes=\(count)-")
        #expect(fixture.field("If-Range", of: 2) == "\"one\"")
        #expect(fixture.field("Accept-Encoding", of: 2) == "identity")
        #expect(result.status == 200)
        #expect(result.headers["Content-Range"] == nil)
        #expect(result.headers["Content-Length"] == "\(Self.body.count)")
        #expect(result.headers["Content-Type"] == "image/png")
        #expect(progress.withLock { $0.first?.received } == count)
        #expect(progress.withLock { $0.allSatisfy { $0.expected == Self.body.count } })
        #expect(fixture.fileNames.isEmpty)
    }

    @Test(arguments: [true, false])
    func aRetryGoesOnWhereItBrokeOff(isKept: Bool) async throws {
        let second = isKept ? Fixture.brokenPart(1_000_000, to: 2_000_000) : Fixture.broken(at: 2_000_000)
        let fixture = try Fixture(Fixture.broken(at: 1_000_000), second, Fixture.proper())
        let downloader = fixture.downloader(isKept ? fixture.store() : nil, retry: RetryPolicy())
        let result = try await downloader.download(fixture.url)
        #expect(result.data == Self.body)
        #expect(result.retryCount == 2)
        let ranges = (1...3).map { fixture.field("Range", of: $0) }
        #expect(ranges == (isKept ? [nil, "bytes=1000000-", "bytes=2000000-"] : [nil, nil, nil]))
        #expect(fixture.fileNames.isEmpty)
    }

    static let validators: [(String, String?)] = [
        ("ETag: W/\"one\"\r\n", nil), ("", nil), ("ETag: one\r\n", nil), ("ETag: \"\"\r\n", nil),
        ("ETag: \"a b\"\r\n", nil),
        (
            "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:50:37 GMT\r\n",
            "Sun, 06 Nov 1994 08:49:37 GMT"
        ),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:50:36 GMT\r\n", nil),
        ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n", nil),
        (
            "ETag: W/\"one\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                + "Date: Sun, 06 Nov 2005 08:50:37 GMT\r\n", nil
        ),
        ("ETag: \"one\"\r\nCache-Control: no-store\r\n", nil), ("ETag: \"one\"\r\nAccept-Ranges: none\r\n", nil),
        ("ETag: \"one\"\r\nContent-Encoding: br\r\n", nil),
    ]

    @Test(arguments: validators)
    func bodyWithoutValidatorIsNotKept(_ fields: String, _ validator: String?) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000, fields), Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(fixture.fileNames.isEmpty == (validator == nil))
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("If-Range", of: 2) == validator)
        #expect((fixture.field("Range", of: 2) == nil) == (validator == nil))
    }

    static let misfits: [(String, ResumeFixture.Script)] = [
        ("another start", Fixture.part(1_499_999, range: "Content-Range: bytes 1499999-2999999/3000000\r\n")),
        ("a lie about the start", Fixture.part(1_499_999, range: "Content-Range: bytes 1500000-2999999/3000000\r\n")),
        ("another total", Fixture.part(1_500_000, of: Fixture.body(seed: 2, count: 3_000_001))),
        ("another tag", Fixture.part(1_500_000, of: Fixture.body(seed: 2), "ETag: \"two\"\r\n")),
        ("no Content-Range", Fixture.part(1_500_000, range: "")),
        ("a shorter part", Fixture.part(1_500_000, range: "Content-Range: bytes 1500000-1999999/3000000\r\n")),
        ("not bytes", Fixture.part(1_500_000, range: "Content-Range: pages 1500000-2999999/3000000\r\n")),
        ("nonsense", Fixture.part(1_500_000, range: "Content-Range: bytes -/99999999999999999999\r\n")),
        ("packed", Fixture.part(1_500_000, "ETag: \"one\"\r\nContent-Encoding: gzip\r\n")),
        ("416", Fixture.status("416 Range Not Satisfiable")),
    ]

    @Test(arguments: misfits)
    func mismatchedResponseRestartsDownload(_ what: String, _ answer: @escaping ResumeFixture.Script) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), answer, Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 2) == "bytes=1500000-")
        #expect(fixture.server.requests.count == 3)
        #expect(fixture.field("Range", of: 3) == nil)
        #expect(fixture.field("If-Range", of: 3) == nil)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func aServerThatSendsTheWholeIsBelieved() async throws {
        let other = Fixture.body(seed: 9)
        let fixture = try Fixture(Fixture.broken(at: 1_500_000)) { connection, _ in
            try connection.answer(other, fields: "ETag: \"two\"\r\n")
        }
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == other)
        #expect(fixture.server.requests.count == 2)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test(arguments: [
        ("503 Busy", true), ("429 Slow", true), ("408 Late", true), ("404 Gone", false), ("410 Gone", false),
    ])
    func errorStatusOnResumeFailsDownload(_ status: String, _ isKept: Bool) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.status(status), Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        let error = await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(error?.reason == .httpStatus(Int(status.prefix(3)) ?? 0))
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 3) == (isKept ? "bytes=1500000-" : nil))
    }

    /// As servers do that stumble over ranges: the body must not be out of reach for as long as its beginning is kept.
    @Test(arguments: ["400 Bad Request", "403 No", "405 No", "406 No", "412 No", "500 Oops", "501 Not Implemented"])
    func aRefusalThatMayMeanTheRangeIsTriedWithoutIt(_ status: String) async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.status(status), Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.server.requests.count == 3)
        #expect(fixture.field("Range", of: 2) == "bytes=1500000-")
        #expect(fixture.field("Range", of: 3) == nil)
        #expect(fixture.fileNames.isEmpty)
    }

    @Test func downloadInterruptedTwiceResumesTwice() async throws {
        let fixture = try Fixture(
            Fixture.broken(at: 700_000),
            { connection, _ in
                let range = "Content-Range: bytes 700000-2999999/3000000\r\n"
                try connection.send("HTTP/1.1 206 Partial Content\r\nContent-Length: 2300000\r\n\(range)\r\n")
                try connection.send(Data(Self.body[700_000..<1_900_000]))
                connection.close()
            }, Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        for _ in 0..<2 {
            await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 2) == "bytes=700000-")
        #expect(fixture.field("Range", of: 3) == "bytes=1900000-")
    }

    @Test func retryResumesInterruptedTransfer() async throws {
        let gate = RawServerGate()
        let fixture = try Fixture(
            { connection, _ in
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\(Fixture.tag)\r\n")
                try connection.send(Data(Self.body.prefix(1_500_000)))
                // Bytes that are in flight when a connection is reset may be lost.
                gate.block()
                connection.reset()
            }, Fixture.proper())
        let downloader = fixture.downloader(fixture.store(), retry: RetryPolicy())
        let result = try await downloader.download(DownloadRequest(url: fixture.url)) { progress in
            if progress.received == 1_500_000 { gate.open() }
        }
        #expect(result.data == Self.body)
        #expect(result.retryCount == 1)
        #expect(fixture.field("Range", of: 2) == "bytes=1500000-")
    }

    @Test func bodyOfCancelledDownloadIsKept() async throws {
        let fixture = try Fixture(
            { connection, _ in
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\(Fixture.tag)\r\n")
                try connection.send(Data(Self.body.prefix(1_500_000)))
                connection.waitForClose()
            }, Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        let ticket = WorkTicket()
        await #expect(throws: CancellationError.self) {
            try await downloader.download(DownloadRequest(url: fixture.url), ticket: ticket) { progress in
                if progress.received == 1_500_000 { ticket.cancel() }
            }
        }
        // The transfer's place is free once what it brought is kept.
        while downloader.runningCount > 0 { await Task.yield() }
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 2) == "bytes=1500000-")
    }

    @Test func bodyOfDifferentRequestIsNotResumed() async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        let headers: [HTTPHeaders] = [
            ["Authorization": "Bearer a"], ["Authorization": "Bearer b"], ["Range": "bytes=0-9"],
        ]
        await #expect(throws: DownloadError.self) {
            try await downloader.download(DownloadRequest(url: fixture.url, headers: headers[0]))
        }
        for other in headers.dropFirst() {
            _ = try await downloader.download(DownloadRequest(url: fixture.url, headers: other))
        }
        #expect(fixture.field("Range", of: 2) == nil)
        #expect(fixture.field("If-Range", of: 3) == nil)
        // Nor does a condition of the request's own stand in the way.
        let again: HTTPHeaders = [
            "Authorization": "Bearer a", "If-None-Match": "\"zero\"", "Cache-Control": "no-cache",
        ]
        let result = try await downloader.download(DownloadRequest(url: fixture.url, headers: again))
        #expect(result.data == Self.body)
        #expect(fixture.field("Range", of: 4) == "bytes=1500000-")
    }

    @Test func disabledResumptionKeepsNoBodies() async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let downloader = fixture.downloader(fixture.store()) { $0.resumesBodies = false }
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        #expect(fixture.fileNames.isEmpty)
        #expect(try await downloader.download(fixture.url).data == Self.body)
        #expect(fixture.field("Range", of: 2) == nil)
    }

    @Test func exposedBodyIncludesResumedBytes() async throws {
        let fixture = try Fixture(Fixture.broken(at: 1_500_000), Fixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) { try await downloader.download(fixture.url) }
        var request = DownloadRequest(url: fixture.url)
        request.exposesBody = true
        let body = Lock<ReceivedBody?>(nil)
        _ = try await downloader.download(request) { progress in body.withLock { $0 = progress.body } }
        let chunks = body.withLock { $0?.chunks() } ?? []
        #expect(chunks.reduce(into: Data()) { $0.append($1) } == Self.body)
        #expect(chunks.allSatisfy { $0.startIndex == 0 })
    }

    @Test(.enabled(if: NginxServer.isAvailable))
    func nginxSendsTheRest() async throws {
        let body = Fixture.body(seed: 5, count: 8_000_000)
        let nginx = try await NginxServer(["large": body])
        defer { nginx.stop() }
        let fixture = try Fixture(Fixture.proper())
        let statuses = Lock<[Int]>([])
        var configuration = ImageDownloader.Configuration(transport: nginx.transport())
        configuration.timeouts = .patient
        configuration.partialBodies = fixture.store()
        configuration.hooks.response = { head in
            statuses.withLock { $0.append(head.status) }
            return head
        }
        let downloader = ImageDownloader(configuration)
        let ticket = WorkTicket()
        await #expect(throws: CancellationError.self) {
            try await downloader.download(DownloadRequest(url: nginx.url("large")), ticket: ticket) { progress in
                if progress.received > 1_000_000 { ticket.cancel() }
            }
        }
        while downloader.runningCount > 0 { await Task.yield() }
        #expect(try await downloader.download(nginx.url("large")).data == body)
        #expect(statuses.withLock { $0 } == [200, 206])
    }
}
