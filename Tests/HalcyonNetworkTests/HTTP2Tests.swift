import Foundation
import HalcyonNetwork
import TestSupport
import Testing

@Suite(.enabled(if: NginxServer.isAvailable), .timeLimit(.minutes(5)), .serialized)
struct HTTP2Tests {
    private let small = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0) })

    @Test func manyTransfersShareAConnection() async throws {
        let server = try await NginxServer(["a.bin": small])
        defer { server.stop() }
        let transport = server.transport()
        let url = server.url("a.bin")
        let first = try await transport.send(.patient(url))
        #expect(first.head.version == .http2)
        #expect(try await first.body.collected() == small)
        try await withThrowingTaskGroup(of: TransportMetrics?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    let response = try await transport.send(.patient(url))
                    #expect(try await response.body.collected() == small)
                    return response.body.metrics
                }
            }
            for try await metrics in group { #expect(metrics?.version == .http2 && metrics?.reusedConnection == true) }
        }
    }

    @Test func cancellingOneStreamLeavesTheOthers() async throws {
        let server = try await NginxServer(["a.bin": small, "big.bin": Data(count: 50 << 20)])
        defer { server.stop() }
        let transport = server.transport()
        for _ in 0..<20 {
            let big = try await transport.send(.patient(server.url("big.bin")))
            var iterator: TransportBody.Iterator? = big.body.makeAsyncIterator()
            _ = try await iterator?.next()
            async let other = transport.send(.patient(server.url("a.bin"))).body.collected()
            iterator = nil
            #expect(try await other == small)
        }
    }

    /// libcurl's memory of a paused stream leaks when the stream leaves a connection that others still use; the leak checker of
    /// AddressSanitizer decides.
    @Test func cancellingAPausedStreamGivesItsMemoryBack() async throws {
        let server = try await NginxServer(["a.bin": small, "big.bin": Data(count: 20 << 20)])
        defer { server.stop() }
        let transport = server.transport()
        for _ in 0..<5 {
            let one = try await transport.send(.patient(server.url("big.bin")))
            let two = try await transport.send(.patient(server.url("big.bin")))
            // The two bodies are not read, so that they are paused while the others continue.
            for _ in 0..<10 {
                let other = try await transport.send(.patient(server.url("a.bin")))
                #expect(try await other.body.collected() == small)
            }
            one.body.cancel()
            two.body.cancel()
        }
    }

    @Test func aSlowReaderLosesNothing() async throws {
        let size = 20 << 20
        let server = try await NginxServer(["a.bin": small, "big.bin": Data(repeating: 7, count: size)])
        defer { server.stop() }
        let transport = server.transport()
        let big = try await transport.send(.patient(server.url("big.bin")))
        var received = 0
        for try await chunk in big.body {
            received += chunk.count
            if received % (64 * 1024) == 0 {
                // The paused stream does not stand in the way of others on its connection.
                let other = try await transport.send(.patient(server.url("a.bin")))
                #expect(try await other.body.collected() == small)
            }
        }
        #expect(received == size)
    }

    @Test func aNewConnectionWithoutHTTP2() async throws {
        let server = try await NginxServer(["a.bin": small])
        defer { server.stop() }
        var configuration = CurlTransport.Configuration()
        configuration.certificateFile = server.certificate.file
        configuration.allowsHTTP2 = false
        let response = try await CurlTransport(configuration).send(.patient(server.url("a.bin")))
        #expect(response.head.version == .http11)
        #expect(try await response.body.collected() == small)
        #expect(response.body.metrics?.version == .http11)
    }
}
