import CCurl
import CHalcyonCurl
import Foundation
import HalcyonNetwork
import HalcyonSystem
import TestSupport
import Testing

/// Servers that send what HTTP/2 allows, without end: libcurl 7.88 reads on while nothing of it is for a stream.
@Suite(.enabled(if: TestCertificate.isAvailable), .timeLimit(.minutes(5)))
struct HTTP2FloodTests {
    struct Flood: Sendable, CustomTestStringConvertible {
        let name: String
        /// Whether the head of an answer comes first.
        var hasHead = true
        let frame: [UInt8]
        /// Whether libcurl listens until the transfer is cancelled; else it may end with an error before.
        var goesOn = true
        var testDescription: String { name }
    }

    static let floods = [
        Flood(name: "windows of the stream", frame: HTTP2Server.frame(8, stream: 1, [0, 0, 0, 1])),
        Flood(name: "windows of the connection", frame: HTTP2Server.frame(8, stream: 0, [0, 0, 0, 1])),
        Flood(name: "windows before a head", hasHead: false, frame: HTTP2Server.frame(8, stream: 0, [0, 0, 0, 1])),
        Flood(name: "priorities", frame: HTTP2Server.frame(2, stream: 1, [0, 0, 0, 0, 1])),
        Flood(name: "empty data", frame: HTTP2Server.frame(0, stream: 1, [])),
        Flood(
            name: "padding", frame: HTTP2Server.frame(0, flags: 8, stream: 1, [255] + [UInt8](repeating: 0, count: 255))
        ),
        Flood(name: "unknown frames", frame: HTTP2Server.frame(77, stream: 1, [UInt8](repeating: 0, count: 100))),
        Flood(name: "other services", frame: HTTP2Server.frame(10, stream: 0, [0, 1, 97, 98])),
        Flood(
            name: "answers to pings", frame: HTTP2Server.frame(6, flags: 1, stream: 0, [UInt8](repeating: 0, count: 8))),
        Flood(name: "pings", frame: HTTP2Server.frame(6, stream: 0, [UInt8](repeating: 0, count: 8)), goesOn: false),
        Flood(name: "settings", frame: HTTP2Server.frame(4, stream: 0, [0, 3, 0, 0, 0, 100]), goesOn: false),
        Flood(
            name: "trailers", frame: HTTP2Server.frame(1, flags: 4, stream: 1, HTTP2Server.field("x", "y")),
            goesOn: false),
        Flood(
            name: "early hints", hasHead: false,
            frame: HTTP2Server.frame(1, flags: 4, stream: 1, HTTP2Server.field(":status", "103")), goesOn: false),
        Flood(
            name: "one head in pieces", hasHead: false,
            frame: HTTP2Server.frame(1, stream: 1, [0x88]) + HTTP2Server.frame(9, stream: 1, []), goesOn: false),
        Flood(name: "data", frame: HTTP2Server.frame(0, stream: 1, [UInt8](repeating: 7, count: 16_000))),
    ]

    @Test(arguments: floods)
    func floodDoesNotDelayOtherTransfers(_ flood: Flood) async throws {
        let (flooding, left) = (RawServerGate(), RawServerGate())
        let hostile = try await HTTP2Server { connection in
            defer { left.open() }
            try Self.send(flood, on: connection, flooding)
        }
        defer { hostile.stop() }
        let transport = hostile.transport()
        let task = Task { try await hostile.asked(by: transport) }
        await flooding.opened()
        let other = try RawServer { connection in
            while connection.readRequest() != nil { try connection.answer(Data("picture".utf8)) }
        }
        defer { other.stop() }
        // While it goes on.
        for _ in 0..<3 {
            #expect(try await transport.send(.patient(other.url())).body.collected() == Data("picture".utf8))
        }
        if flood.goesOn { task.cancel() }
        switch await task.result {
        case .failure(let error as DownloadError): #expect(!flood.goesOn && error.code == "connection", "\(error)")
        case .failure(let error): #expect(flood.goesOn && error is CancellationError)
        case .success: Issue.record("it has no end")
        }
        // And it is not listened to any more, which the curl thread sees to.
        if flood.goesOn { await left.opened() }
    }

    @Test(arguments: [true, false])
    func aFloodIsNoSignOfLife(_ isIdle: Bool) async throws {
        let (flooding, left) = (RawServerGate(), RawServerGate())
        let hostile = try await HTTP2Server { connection in
            defer { left.open() }
            try Self.send(Self.floods[0], on: connection, flooding)
        }
        defer { hostile.stop() }
        var request = TransportRequest.patient(hostile.url)
        if isIdle { request.idleTimeout = .milliseconds(200) } else { request.totalTimeout = .milliseconds(200) }
        let transport = hostile.transport()
        let error = await #expect(throws: DownloadError.self) {
            for try await _ in try await transport.send(request).body {}
        }
        #expect(error?.reason == .timeout(isIdle ? .idle : .total))
        if flooding.isOpen { await left.opened() }
    }

    /// The proxy's TLS may hold bytes of the server's when nothing more comes that would have them read. Sizes about the most
    /// that is read within a turn.
    @Test func nothingStaysBehindInAProxysTLS() async throws {
        for size in stride(from: 240 << 10, to: 288 << 10, by: 4 << 10) {
            let (asked, sent) = (RawServerGate(), RawServerGate())
            let proxy = try await HTTP2Server(isProxy: true) { connection in
                asked.open()
                defer { sent.open() }
                try connection.sendHead()
                for left in stride(from: size - 4096, through: 0, by: -4096) {
                    let data = [UInt8](repeating: 7, count: 4096)
                    try connection.send(HTTP2Server.frame(0, flags: left == 0 ? 1 : 0, stream: 1, data))
                }
                connection.flush()
                sent.open()
                connection.waitForClose()
            }
            defer { proxy.stop() }
            let received = await withCheckedContinuation { continuation in
                WorkerThread.start(name: "proxied") {
                    // Read in one turn, as all of it has come.
                    let size = Self.sizeOfBody(by: proxy.url) { if asked.isOpen { sent.block() } }
                    continuation.resume(returning: size)
                }
            }
            #expect(received == size)
        }
    }

    /// With libcurl itself, as the transport trusts no proxy that the system does not trust.
    private static func sizeOfBody(by proxy: URL, beforeTurn: () -> Void) -> Int? {
        guard let multi = curl_multi_init(), let easy = curl_easy_init() else { return nil }
        var (turns, size, running) = (halcyon_curl_turns(), 0, Int32(1))
        withUnsafeMutablePointer(to: &size) { size in
            withUnsafeMutablePointer(to: &turns) { turns in
                halcyon_curl_set_string(easy, CURLOPT_URL, "https://localhost:1/a")
                halcyon_curl_set_string(easy, CURLOPT_PROXY, proxy.absoluteString)
                for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] {
                    halcyon_curl_set_long(easy, option, 0)
                }
                halcyon_curl_set_long(easy, CURLOPT_BUFFERSIZE, 64 << 10)
                halcyon_curl_limit_reads(easy, turns)
                halcyon_curl_set_write(
                    easy,
                    { _, size, count, received in
                        received?.assumingMemoryBound(to: Int.self).pointee += size * count
                        return size * count
                    }, size)
                curl_multi_add_handle(multi, easy)
                while running > 0 {
                    beforeTurn()
                    turns.pointee.number += 1
                    curl_multi_perform(multi, &running)
                    if running > 0 { curl_multi_poll(multi, nil, 0, 60_000, nil) }
                }
                curl_multi_remove_handle(multi, easy)
                curl_easy_cleanup(easy)
                curl_multi_cleanup(multi)
            }
        }
        return size
    }

    private static func send(_ flood: Flood, on connection: HTTP2Server.Connection, _ flooding: RawServerGate) throws {
        if flood.hasHead { try connection.sendHead() }
        let piece = (0..<max(1, 64_000 / flood.frame.count)).flatMap { _ in flood.frame }
        // Also where it is given up at once.
        defer { flooding.open() }
        try connection.send(piece)
        flooding.open()
        while true { try connection.send(piece) }
    }
}
