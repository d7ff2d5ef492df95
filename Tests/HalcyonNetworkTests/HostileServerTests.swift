import Foundation
import HalcyonNetwork
import HalcyonSystem
import TestSupport
import Testing

/// Servers that try to stop or starve other transfers: each transfer ends in a typed error or in its cancel, and
/// all other transfers go on meanwhile.
@Suite(.timeLimit(.minutes(5)))
struct HostileServerTests {
    private static let head = "HTTP/1.1 200 OK\r\n"
    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

    // MARK: - Transfer codings

    /// Unpacked as its head declares it becomes gigabytes of empty blocks, while libcurl responds to no other transfer.
    private static let bomb: [UInt8] = {
        let blocks = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]) + Data(count: 5 << 20)
        return Array(Packing.gzip.pack(Packing.gzip.pack(blocks)))
    }()

    static let refusedHeads = [
        "Transfer-Encoding: gzip, gzip, gzip, chunked", "transfer-encoding: gzip", "TRANSFER-ENCODING:x-gzip",
        "Transfer-Encoding: deflate, chunked", "Transfer-Encoding: br, chunked", "Transfer-Encoding: zstd",
        "Transfer-Encoding: identity", "Transfer-Encoding: identity, chunked", "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding:", "Transfer-Encoding: ,",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: chunked;q=1", "Transfer-Encoding: a, b, c, d, e, f, g", "Transfer-Encoding : gzip, chunked",
        "Transfer-Encoding\t: gzip", "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "Transfer-Encoding:\r\n gzip, chunked",
        "Transfer-Encoding: chunked\r\n\t, gzip", "Transfer-Encoding: gzip\nTransfer-Encoding: chunked",
    ]

    @Test(arguments: refusedHeads, ["HTTP/1.1 200 OK", "HTTP/1.0 200 OK", "HTTP/1.1 302 Found", "HTTP/1.1 103 Hints"])
    func transferEncodingsOtherThanChunkedAreRefused(_ fields: String, _ status: String) async throws {
        let bomb = Self.bomb
        let server = try RawServer { connection in
            connection.readRequest()
            let size = String(bomb.count, radix: 16)
            // In one piece, so that the body has come when the head is read.
            try connection.send(
                Data("\(status)\r\n\(fields)\r\nLocation: /\r\n\r\n\(size)\r\n".utf8) + bomb
                    + Data("\r\n0\r\n\r\n".utf8))
            connection.waitForClose()
        }
        defer { server.stop() }
        let error = await failure(CurlTransport(), server.url())
        #expect(error?.reason == .connection(.transferEncoding))
        #expect(error?.code == "connection")
    }

    @Test(arguments: ["chunked", "Chunked", " \tCHUNKED \t", "chunked\r\nTransfer-Encoding: chunked"])
    func chunkedIsUndone(_ value: String) async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("\(Self.head)Transfer-Encoding:\(value)\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
        }
        defer { server.stop() }
        let response = try await CurlTransport().send(.patient(server.url()))
        #expect(try await response.body.collected() == Data("abc".utf8))
    }

    @Test func aChallengeWithATransferEncodingIsRefused() async throws {
        let bomb = Self.bomb
        let server = try RawServer { connection in
            connection.readRequest()
            let fields =
                "WWW-Authenticate: Digest realm=\"a\", nonce=\"b\", qop=\"auth\"\r\nTransfer-Encoding: gzip\r\n"
            try connection.send(Data("HTTP/1.1 401 No\r\n\(fields)\r\n".utf8) + bomb)
            connection.waitForClose()
        }
        defer { server.stop() }
        var request = TransportRequest.patient(server.url())
        request.digest = DigestCredential(user: "a", password: "b")
        let error = await #expect(throws: DownloadError.self) { try await CurlTransport().send(request) }
        #expect(error?.reason == .connection(.transferEncoding))
    }

    // MARK: - Heads and frames

    static let broken: [(String, DownloadError.Reason)] = [
        // A second head within the first, which libcurl takes for a field.
        ("\(head)A: b\r\nHTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n", .connection(.badAnswer)),
        ("\(head) folded: onto nothing\r\n\r\n", .connection(.badAnswer)),
        (chunked + "wxyz\r\n", .connection(.badAnswer)),
        (chunked + "ffffffffffffffffff\r\n", .connection(.badAnswer)),
        (chunked + "-5\r\nabcde\r\n0\r\n\r\n", .connection(.badAnswer)),
    ]

    @Test(arguments: broken)
    func malformedResponsesAreRejected(_ answer: String, _ reason: DownloadError.Reason) async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send(answer)
            connection.waitForClose()
        }
        defer { server.stop() }
        #expect(await failure(CurlTransport(), server.url())?.reason == reason)
    }

    /// The bytes that a server begins with and then repeats for as long as it is listened to, and the outcome; nil if the
    /// transfer continues until it is cancelled.
    struct Flood: Sendable, CustomTestStringConvertible {
        let name: String
        var start = ""
        let piece: String
        let end: DownloadError.Reason?
        var testDescription: String { name }
    }

    private static let tooLarge = DownloadError.Reason.tooLarge(limit: 256 << 10)

    static let floods = [
        Flood(name: "status line", start: "HTTP/1.1 200 ", piece: "x", end: tooLarge),
        Flood(name: "zeros", piece: "\0", end: .connection(.badAnswer)),
        Flood(name: "line of a field", start: head + "A: ", piece: "x", end: tooLarge),
        Flood(name: "returns", start: head, piece: "\r", end: tooLarge),
        Flood(name: "fields", start: head, piece: "a:\r\n", end: tooLarge),
        Flood(name: "folded field", start: head + "A: b\r\n", piece: " x\r\n", end: tooLarge),
        Flood(name: "cookies", start: head, piece: "Set-Cookie: a=b\r\n", end: tooLarge),
        Flood(name: "continues", piece: "HTTP/1.1 100 Continue\r\n\r\n", end: .connection(.badAnswer)),
        Flood(name: "early hints", piece: "HTTP/1.1 103 Hints\r\nLink: a\r\n\r\n", end: .connection(.badAnswer)),
        Flood(name: "size of a chunk", start: chunked, piece: "0", end: .connection(.badAnswer)),
        Flood(name: "extension of a chunk", start: chunked + "1;", piece: "x", end: nil),
        Flood(name: "small chunks", start: chunked, piece: "1\r\nx\r\n", end: nil),
        Flood(name: "line of a trailer", start: chunked + "0\r\nA: ", piece: "x", end: .connection(.badAnswer)),
        Flood(name: "trailers", start: chunked + "0\r\n", piece: "a: b\r\n", end: tooLarge),
        Flood(name: "body", start: head + "\r\n", piece: "x", end: nil),
    ]

    @Test(arguments: floods)
    func floodDoesNotDelayOtherTransfers(_ flood: Flood) async throws {
        let left = RawServerGate()
        let flooding = RawServerGate()
        let hostile = try RawServer { connection in
            defer {
                left.open()
                flooding.open()
            }
            connection.readRequest()
            try connection.send(flood.start)
            let piece = String(repeating: flood.piece, count: (64 << 10) / flood.piece.utf8.count)
            try connection.send(piece)
            flooding.open()
            while true { try connection.send(piece) }
        }
        defer { hostile.stop() }
        let transport = CurlTransport()
        let url = hostile.url()
        let task = Task { try await transport.send(.patient(url)).body.drained() }
        await flooding.opened()
        // While it goes on.
        try await Self.answersOthers(transport)
        if flood.end == nil { task.cancel() }
        let result = await task.result
        switch (flood.end, result) {
        case (let reason?, .failure(let error as DownloadError)): #expect(error.reason == reason)
        case (nil, .failure(let error)): #expect(error is CancellationError)
        default: Issue.record("\(result)")
        }
        // And it is not listened to any more.
        await left.opened()
    }

    /// All of its bytes count: the status line, the ends of the lines and the empty line, too.
    @Test(arguments: [(256 << 10, true), ((256 << 10) + 1, false)])
    func aHeadMayFillItsLimit(_ size: Int, _ isAccepted: Bool) async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            var text = "\(Self.head)Content-Length: 7\r\n"
            // Each of a length that libcurl accepts.
            while size - text.utf8.count > 20_000 { text += "A: \(String(repeating: "x", count: 10_000))\r\n" }
            text += "B: \(String(repeating: "x", count: size - text.utf8.count - 7))\r\n\r\n"
            try connection.send("\(text)picture")
            connection.waitForClose()
        }
        defer { server.stop() }
        if isAccepted {
            let response = try await CurlTransport().send(.patient(server.url()))
            #expect(try await response.body.collected() == Data("picture".utf8))
        } else {
            #expect(await failure(CurlTransport(), server.url())?.reason == Self.tooLarge)
        }
    }

    static let pauses = [
        "", "HTTP/1.", "HTTP/1.1 100 Continue\r\n\r\n", "\(head)A: ", "\(head)A: b\r\n",
        "\(head)Content-Length: 9\r\n\r\n",
        "\(head)Content-Length: 9\r\n\r\nabc", "\(chunked)", "\(chunked)1", "\(chunked)1;a", "\(chunked)3\r\nab",
        "\(chunked)3\r\nabc\r\n", "\(chunked)0\r\n", "\(chunked)0\r\nA: ",
    ]

    @Test(arguments: pauses)
    func pausedResponseDoesNotDelayOtherTransfers(_ start: String) async throws {
        let (paused, left) = (RawServerGate(), RawServerGate())
        let hostile = try RawServer { connection in
            connection.readRequest()
            try connection.send(start)
            paused.open()
            connection.waitForClose()
            left.open()
        }
        defer { hostile.stop() }
        let transport = CurlTransport()
        let url = hostile.url()
        let task = Task { try await transport.send(.patient(url)).body.drained() }
        await paused.opened()
        try await Self.answersOthers(transport)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await left.opened()
    }

    /// Each line comes before the limit of silence is over.
    @Test(arguments: ["a: b\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "\(head)A: b\r\n c\r\n"])
    func aHeadThatDripsTimesOut(_ line: String) async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            if !line.hasPrefix("HTTP") { try connection.send(Self.head) }
            while !connection.isClosed(within: 10) { try connection.send(line.hasPrefix("HTTP") ? line : "a: b\r\n") }
        }
        defer { server.stop() }
        var request = TransportRequest.patient(server.url())
        request.idleTimeout = .milliseconds(150)
        let error = await #expect(throws: DownloadError.self) { try await CurlTransport().send(request) }
        let isBadAnswer = line.hasPrefix("HTTP") && error?.reason == .connection(.badAnswer)
        #expect(error?.reason == .timeout(.idle) || isBadAnswer)
    }

    @Test(arguments: [
        "HTTP/1.1 407 No\r\nContent-Length: 99999999999\r\n\r\n", "HTTP/1.1 200 OK\r\nA: ",
        "HTTP/1.1 407 No\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func endlessProxyResponseFailsTransfer(_ start: String) async throws {
        let left = RawServerGate()
        let proxy = try RawServer { connection in
            defer { left.open() }
            connection.readRequest()
            try connection.send(start)
            let piece = String(repeating: "1\r\nx\r\n", count: 10_000)
            while true { try connection.send(piece) }
        }
        defer { proxy.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .server(proxy.url())
        let error = await failure(CurlTransport(configuration), URL(web: "https://one.test/a"))
        #expect(error?.reason == .connection(.proxy))
        await left.opened()
    }

    // MARK: - Helpers

    /// Whether a transfer from another server ends meanwhile.
    private static func answersOthers(_ transport: CurlTransport) async throws {
        let server = try RawServer { connection in
            while connection.readRequest() != nil { try connection.answer(Data("picture".utf8)) }
        }
        defer { server.stop() }
        for _ in 0..<3 {
            #expect(try await transport.send(.patient(server.url())).body.collected() == Data("picture".utf8))
        }
    }

    private func failure(_ transport: CurlTransport, _ url: URL) async -> DownloadError? {
        await #expect(throws: DownloadError.self) {
            _ = try await transport.send(.patient(url)).body.collected()
        }
    }
}

extension TransportBody {
    /// Reads the body and keeps nothing of it.
    fileprivate func drained() async throws {
        for try await _ in self {}
    }
}
