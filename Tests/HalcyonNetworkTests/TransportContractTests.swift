import Foundation
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

/// The contract of all transports, checked for each of them.
@Suite(.timeLimit(.minutes(5)))
struct TransportContractTests {
    private let payload = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0) })

    @Test(arguments: ContractSubject.allCases)
    func theHeadComesBeforeTheBody(_ subject: ContractSubject) async throws {
        let gate = RawServerGate()
        let running = try subject.serve([
            .head(200, ["Content-Length": "50000", "X-One": "1"]), .hold(gate), .chunk(payload),
        ])
        defer { running.stop() }
        let response = try await running.transport.send(.patient(running.url))
        #expect(response.head.status == 200)
        #expect(response.head.headers["x-one"] == "1")
        #expect(response.head.url == running.url)
        #expect(response.head.contentLength == 50_000)
        #expect(response.body.metrics == nil)
        gate.open()
        #expect(try await response.body.collected() == payload)
        #expect(response.body.metrics?.bytesReceived == 50_000)
    }

    @Test(arguments: ContractSubject.allCases)
    func theBodyArrivesInPieces(_ subject: ContractSubject) async throws {
        let gate = RawServerGate()
        let (first, second) = (payload.prefix(1000), payload.dropFirst(1000))
        let running = try subject.serve([
            .head(200, ["Content-Length": "50000"]), .chunk(first), .hold(gate), .chunk(second),
        ])
        defer { running.stop() }
        let response = try await running.transport.send(.patient(running.url))
        var iterator = response.body.makeAsyncIterator()
        var data = Data()
        while data.count < 1000 { data.append(try #require(try await iterator.next())) }
        #expect(data == first)
        gate.open()
        while let chunk = try await iterator.next() { data.append(chunk) }
        #expect(data == payload)
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: ContractSubject.allCases, [301, 302, 307, 401, 404, 500, 503])
    func aStatusIsHandedOutAsItIs(_ subject: ContractSubject, status: Int) async throws {
        let headers: HTTPHeaders = [
            "Content-Length": "0", "Location": "/elsewhere", "WWW-Authenticate": "Basic realm=\"x\"",
        ]
        let running = try subject.serve([.head(status, headers)])
        defer { running.stop() }
        let response = try await running.transport.send(.patient(running.url))
        #expect(response.head.status == status)
        #expect(try await response.body.collected().isEmpty)
    }

    @Test(arguments: ContractSubject.allCases)
    func cancellingBeforeTheHeadEndsTheTransfer(_ subject: ContractSubject) async throws {
        let gate = RawServerGate()
        defer { gate.open() }
        let arrived = RawServerGate()
        // The scripted side never gets to the gate: cancelling at any time before the head must do.
        let running = try subject.serve(subject == .curl ? [] : [.hold(gate)])
        defer { running.stop() }
        let task = Task {
            arrived.open()
            return try await running.transport.send(.patient(running.url)).head.status
        }
        await arrived.opened()
        if let scripted = running.transport as? ScriptedTransport { try await scripted.waitForRequests(1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: ContractSubject.allCases)
    func cancellingInTheBodyClosesTheConnection(_ subject: ContractSubject) async throws {
        let gate = RawServerGate()
        defer { gate.open() }
        let running = try subject.serve([
            .head(200, ["Content-Length": "50000"]), .chunk(payload.prefix(10)),
            .hold(subject == .curl ? opened() : gate),
        ])
        defer { running.stop() }
        let first = RawServerGate()
        let task = Task {
            let response = try await running.transport.send(.patient(running.url))
            for try await _ in response.body { first.open() }
        }
        await first.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await running.left.opened()
    }

    @Test(arguments: ContractSubject.allCases)
    func droppingTheBodyClosesTheConnection(_ subject: ContractSubject) async throws {
        let running = try subject.serve([.head(200, ["Content-Length": "50000"])])
        defer { running.stop() }
        let status = try await running.transport.send(.patient(running.url)).head.status
        #expect(status == 200)
        // The scripted body has no bytes to come, and is dropped at its very beginning.
        await running.left.opened()
    }

    @Test(arguments: ContractSubject.allCases)
    func endingTheIterationEarlyClosesTheConnection(_ subject: ContractSubject) async throws {
        let running = try subject.serve([
            .head(200, ["Content-Length": "50000"]), .chunk(payload.prefix(100)), .chunk(payload.prefix(100)),
        ])
        defer { running.stop() }
        let response = try await running.transport.send(.patient(running.url))
        for try await _ in response.body { break }
        await running.left.opened()
        withExtendedLifetime(response) {}
    }

    @Test(arguments: ContractSubject.allCases)
    func cancellingTheBodyWakesItsReader(_ subject: ContractSubject) async throws {
        let gate = RawServerGate()
        defer { gate.open() }
        let running = try subject.serve([.head(200, ["Content-Length": "50000"]), .hold(gate)])
        defer { running.stop() }
        let response = try await running.transport.send(.patient(running.url))
        let body = response.body
        let reader = Task { try await body.collected() }
        body.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    /// Bytes that arrived and were not read are dropped by the cancellation, and the rest must not pass for the whole body.
    @Test func cancellingAfterTheEndIsNoEndWhereBytesWereNotRead() async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            // There is no length, as one would show the reader that something is missing.
            try connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + String(repeating: "a", count: 1_000))
        }
        defer { server.stop() }
        let ended = RawServerGate()
        // Its thread ends after its last transfer.
        var transport: CurlTransport? = CurlTransport(CurlTransport.Configuration(), onThreadEnd: { ended.open() })
        let body = try #require(try await transport?.send(.patient(server.url("/image"))).body)
        transport = nil
        await ended.opened()
        body.cancel()
        await #expect(throws: CancellationError.self) { try await body.collected() }
    }

    @Test(arguments: ContractSubject.allCases)
    func anAlreadyCancelledTaskSendsNothing(_ subject: ContractSubject) async throws {
        let running = try subject.serve([.head(200, ["Content-Length": "0"])])
        defer { running.stop() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await running.transport.send(.patient(running.url)).head.status
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: ContractSubject.allCases)
    func aResetBeforeTheHeadIsAConnectionError(_ subject: ContractSubject) async throws {
        let running = try subject.serve([.reset])
        defer { running.stop() }
        let error = await #expect(throws: DownloadError.self) {
            try await running.transport.send(.patient(running.url))
        }
        #expect(error?.reason == .connection(.reset))
    }

    @Test(arguments: ContractSubject.allCases)
    func aResetInTheBodyIsAnErrorAfterTheBytesBeforeIt(_ subject: ContractSubject) async throws {
        let gate = RawServerGate()
        let running = try subject.serve([
            .head(200, ["Content-Length": "50000"]), .chunk(payload.prefix(100)), .hold(gate), .reset,
        ])
        defer { running.stop() }
        let response = try await running.transport.send(.patient(running.url))
        var iterator = response.body.makeAsyncIterator()
        var received = 0
        while received < 100 { received += try #require(try await iterator.next()).count }
        gate.open()
        let error = await #expect(throws: DownloadError.self) { while try await iterator.next() != nil {} }
        #expect(error?.code == "connection")
    }

    @Test(arguments: ContractSubject.allCases, ["ftp://h/a", "file:///etc/passwd", "http:///a", "a/b.jpg", "data:,x"])
    func onlyHTTPIsSent(_ subject: ContractSubject, text: String) async throws {
        let running = try subject.serve([])
        defer { running.stop() }
        let url = try #require(URL(string: text))
        let error = await #expect(throws: DownloadError.self) {
            try await running.transport.send(.patient(url))
        }
        #expect(error?.code == "invalidRequest")
    }

    @Test(arguments: ContractSubject.allCases, ["a\r\nX-Evil: 1", "a\nb", "a\0b"])
    func headerFieldsCannotBreakOut(_ subject: ContractSubject, value: String) async throws {
        let running = try subject.serve([])
        defer { running.stop() }
        let error = await #expect(throws: DownloadError.self) {
            try await running.transport.send(.patient(running.url, headers: ["X-A": value]))
        }
        #expect(error?.code == "invalidRequest")
    }

    private func opened() -> RawServerGate {
        let gate = RawServerGate()
        gate.open()
        return gate
    }
}
