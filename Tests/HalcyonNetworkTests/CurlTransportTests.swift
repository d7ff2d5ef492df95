import Foundation
import HalcyonNetwork
import HalcyonSystem
import TestSupport
import Testing

/// The properties of the curl transport alone: sockets, time limits, threads.
@Suite(.timeLimit(.minutes(5)))
struct CurlTransportTests {
    private let transport = CurlTransport()

    private func failure(
        _ url: URL, connect: Duration = .seconds(300), idle: Duration = .seconds(300), total: Duration? = nil
    ) async -> DownloadError? {
        let request = TransportRequest(url: url, connectTimeout: connect, idleTimeout: idle, totalTimeout: total)
        return await #expect(throws: DownloadError.self) {
            let response = try await transport.send(request)
            _ = try await response.body.collected()
        }
    }

    /// libcurl sends again what a connection that had died did not answer, five times for a transfer; it counts in the
    /// handle, which the next transfer may get.
    @Test func sendingAgainIsCountedForEachTransferByItself() async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            try connection.answer(Data("picture".utf8))
            // The next one on this connection is taken, and not answered.
            _ = connection.readRequest()
        }
        defer { server.stop() }
        let transport = CurlTransport()
        for _ in 0..<15 {
            let response = try await transport.send(.patient(server.url("/image")))
            #expect(try await response.body.collected() == Data("picture".utf8))
        }
        #expect(server.requests.count > 15)
    }

    @Test func aRefusedPortIsAnError() async throws {
        let port = try RawServer.refusedPort()
        let error = await failure(URL(web: "http://127.0.0.1:\(port)/a"))
        #expect(error?.reason == .connection(.refused))
    }

    @Test func aHostThatDoesNotResolveIsAConnectionError() async throws {
        // Longer than a name may be, so that no name server is asked, which may be slow or absent.
        let host = String(repeating: "a", count: 70) + ".invalid"
        let error = await failure(URL(web: "http://\(host)/a?secret=1"))
        #expect(error?.reason == .connection(.hostNotFound))
        #expect(error?.description == "\(host)/a: host not found")
    }

    @Test func aShortBodyIsIncomplete() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        }
        defer { server.stop() }
        let error = await failure(server.url())
        #expect(error?.reason == .incompleteBody(received: 9, expected: 100))
        #expect(error?.code == "connection")
    }

    @Test func aBodyInPiecesThatBreaksOffIsIncomplete() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        }
        defer { server.stop() }
        let error = await failure(server.url())
        #expect(error?.reason == .incompleteBody(received: 5, expected: nil))
    }

    @Test(arguments: ["what is this\r\n\r\n", "HTTP/9.9 yes\r\n\r\n", "\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n"])
    func garbageIsABadAnswer(_ text: String) async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send(text)
        }
        defer { server.stop() }
        let error = await failure(server.url())
        #expect(error?.reason == .connection(.badAnswer))
    }

    @Test func closingWithoutAnAnswerIsAReset() async throws {
        let server = try RawServer { $0.readRequest() }
        defer { server.stop() }
        let error = await failure(server.url())
        #expect(error?.reason == .connection(.reset))
    }

    @Test func headersWithoutEndAreTooLarge() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\n")
            let field = "X-Filler: \(String(repeating: "x", count: 1000))\r\n"
            while true { try connection.send(field) }
        }
        defer { server.stop() }
        let error = await failure(server.url())
        #expect(error?.code == "tooLarge")
    }

    @Test func noAnswerTimesOut() async throws {
        let gate = RawServerGate()
        let server = try RawServer { connection in
            connection.readRequest()
            gate.block()
        }
        defer {
            gate.open()
            server.stop()
        }
        #expect(await failure(server.url(), idle: .milliseconds(60))?.reason == .timeout(.idle))
        #expect(await failure(server.url(), total: .milliseconds(60))?.reason == .timeout(.total))
    }

    @Test func aBodyThatStallsTimesOut() async throws {
        let gate = RawServerGate()
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
            gate.block()
        }
        defer {
            gate.open()
            server.stop()
        }
        #expect(await failure(server.url(), idle: .milliseconds(60))?.reason == .timeout(.idle))
    }

    @Test func aBodyThatDripsMeetsTheTotalLimit() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            while true { try connection.send("x") }
        }
        defer { server.stop() }
        #expect(await failure(server.url(), total: .milliseconds(80))?.reason == .timeout(.total))
    }

    @Test func aHandshakeThatNeverComesTimesOutConnecting() async throws {
        let gate = RawServerGate()
        let server = try RawServer { _ in gate.block() }
        defer {
            gate.open()
            server.stop()
        }
        let url = URL(web: "https://127.0.0.1:\(server.port)/a")
        #expect(await failure(url, connect: .milliseconds(80))?.reason == .timeout(.connect))
    }

    @Test func aServerWithoutTLSIsATLSError() async throws {
        let server = try RawServer { try $0.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") }
        defer { server.stop() }
        #expect(await failure(URL(web: "https://127.0.0.1:\(server.port)/a"))?.code == "tls")
    }

    @Test func aSlowReaderHoldsTheSenderUp() async throws {
        let heldUp = RawServerGate()
        let sent = Lock(0)
        let total = 64 << 20
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let count = connection.sendUntilHeldUp(total: total, patience: 12_000)
            sent.withLock { $0 = count }
            heldUp.open()
            _ = connection.sendUntilHeldUp(total: total - count, patience: 240_000)
        }
        defer { server.stop() }
        let response = try await transport.send(
            TransportRequest(url: server.url(), idleTimeout: .seconds(10)))
        var iterator = response.body.makeAsyncIterator()
        var received = try #require(try await iterator.next()).count
        // Longer than the limit of silence, which does not run while the reader is the slow one.
        await heldUp.opened()
        #expect(sent.withLock { $0 } < 16 << 20)
        // Bytes that are in flight arrive at once; the rest would be subject to the limit of silence on a busy machine.
        let count = sent.withLock { $0 }
        while received < count, let chunk = try await iterator.next() {
            #expect(chunk.count <= 320 * 1024)
            received += chunk.count
        }
        #expect(received >= count)
    }

    @Test func oneConnectionServesManyRequests() async throws {
        let server = try RawServer { connection in
            while connection.readRequest() != nil { try connection.answer(Data("hello".utf8)) }
        }
        defer { server.stop() }
        for index in 0..<10 {
            let response = try await transport.send(.patient(server.url("/\(index)")))
            #expect(try await response.body.collected() == Data("hello".utf8))
            #expect(response.body.metrics?.reusedConnection == (index > 0))
        }
        #expect(server.connectionCount == 1)
    }

    @Test func informationalAnswersAndTrailersAreNoHeads() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n two\r\nX-A: 3\r\n\r\n")
            try connection.send("3\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n")
        }
        defer { server.stop() }
        let response = try await transport.send(.patient(server.url()))
        #expect(response.head.status == 200)
        #expect(response.head.headers.values(of: "x-a").last == "3")
        #expect(!response.head.headers.contains("Link"))
        #expect(try await response.body.collected() == Data("abc".utf8))
        #expect(!response.head.headers.contains("X-Trailer"))
    }

    @Test func headersAreSentAsGiven() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.answer(Data())
        }
        defer { server.stop() }
        let headers: HTTPHeaders = ["X-One": "1", "X-Empty": "", "Accept": "image/webp"]
        _ = try await transport.send(.patient(server.url("/p?q=1"), headers: headers)).body.collected()
        let lines = try #require(server.requests.first).components(separatedBy: "\r\n")
        #expect(lines.first == "GET /p?q=1 HTTP/1.1")
        #expect(lines.contains("X-One: 1"))
        #expect(lines.contains("X-Empty:"))
        #expect(lines.contains("Accept: image/webp"))
        #expect(!lines.contains { $0.hasPrefix("Accept-Encoding") })
        #expect(!lines.contains { $0.hasPrefix("Cookie") })
    }

    @Test func headerFieldsAreKeptByteForByte() async throws {
        // Latin-1, UTF-8 that ends in what Latin-1 has as a blank, and what would break a line.
        let tags: [[UInt8]] = [[0xE9, 0x22], [0x22, 0xC3, 0xA0], [0x22, 0x61, 0x0D, 0x62, 0x22]]
        let sentBack = Lock<[Data]>([])
        let server = try RawServer { connection in
            for tag in tags {
                connection.readRequest()
                try connection.send(
                    Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: ".utf8) + tag + [13, 10, 13, 10])
                guard let head = connection.readRequestBytes() else { return }
                sentBack.withLock { $0.append(head) }
                try connection.answer(Data())
            }
        }
        defer { server.stop() }
        for tag in tags {
            let first = try await transport.send(.patient(server.url()))
            _ = try await first.body.collected()
            let metadata = HTTPCacheMetadata(first.head, requestHeaders: [:], now: Date())
            var second = TransportRequest.patient(server.url())
            second.headers = metadata.conditionalHeaders
            _ = try await transport.send(second).body.collected()
            let line = Data("If-None-Match: ".utf8) + tag.map { $0 == 0x0D ? 0x20 : $0 } + [13, 10]
            #expect(sentBack.withLock { ($0.last ?? Data()) + [13, 10] }.firstRange(of: line) != nil)
        }
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(1 << 40), .seconds(Int64.max) * 10])
    func theLongestLimitsAreNone(_ limit: Duration) async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.answer(Data("hello".utf8))
        }
        defer { server.stop() }
        let timeouts = DownloadTimeouts(connect: limit, idle: limit, total: limit, minimumRate: .none)
        let result = try await ImageDownloader().download(DownloadRequest(url: server.url(), timeouts: timeouts))
        #expect(result.data == Data("hello".utf8))
        let request = TransportRequest(
            url: server.url(), connectTimeout: limit, idleTimeout: limit, totalTimeout: limit)
        #expect(try await transport.send(request).body.collected() == Data("hello".utf8))
    }

    @Test(arguments: ["gzip", "aws-chunked", "br"])
    func bodiesAreHandedOutAsTheyCome(_ coding: String) async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.answer(Data("hello".utf8), fields: "Content-Encoding: \(coding)\r\n")
        }
        defer { server.stop() }
        let response = try await transport.send(.patient(server.url()))
        #expect(try await response.body.collected() == Data("hello".utf8))
        #expect(response.body.metrics?.bytesReceived == 5)
    }

    @Test func manyTransfersRunAtOnce() async throws {
        let count = 150
        let arrived = Lock(0)
        let all = RawServerGate()
        let server = try RawServer { connection in
            connection.readRequest()
            if arrived.withLock({
                $0 += 1; return $0
            }) == count {
                all.open()
            }
            all.block()
            try connection.answer(Data("hello".utf8))
        }
        defer { server.stop() }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<count {
                group.addTask {
                    try await transport.send(.patient(server.url("/\(index)"))).body.collected().count
                }
            }
            for try await size in group { #expect(size == 5) }
        }
    }

    @Test func theThreadEndsWithTheTransport() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.answer(Data("hello".utf8))
        }
        defer { server.stop() }
        let ended = RawServerGate()
        do {
            let transport = CurlTransport(CurlTransport.Configuration(), onThreadEnd: { ended.open() })
            _ = try await transport.send(.patient(server.url())).body.collected()
            #expect(!ended.isOpen)
        }
        await ended.opened()
    }

    @Test func aTransferInFlightKeepsTheThread() async throws {
        let gate = RawServerGate()
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            gate.block()
            try connection.send("hello")
        }
        defer { server.stop() }
        let ended = RawServerGate()
        let url = server.url()
        func begin() async throws -> TransportBody {
            let transport = CurlTransport(CurlTransport.Configuration(), onThreadEnd: { ended.open() })
            return try await transport.send(.patient(url)).body
        }
        let body = try await begin()
        #expect(!ended.isOpen)
        gate.open()
        #expect(try await body.collected() == Data("hello".utf8))
        await ended.opened()
    }
}
