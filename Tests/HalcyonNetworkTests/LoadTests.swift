import Foundation
import Glibc
import HalcyonNetwork
import TestSupport
import Testing

/// Many requests through one transport: all are answered, and their resources are given back.
@Suite(.timeLimit(.minutes(5)))
struct LoadTests {
    @Test func everyRequestIsAnswered() async throws {
        let load = try Load()
        defer { load.server.stop() }
        try await load.run(300)
    }

    /// `HALCYON_SOAK` runs it, in a process of its own, so that no other test's memory is counted.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil))
    func memoryStaysWhereItIs() async throws {
        await #expect(processExitsWith: .success) {
            let load = try Load()
            try await load.run(5_000)
            let before = Load.residentBytes()
            try await load.run(25_000)
            let grown = Load.residentBytes() - before
            #expect(grown < 1 << 20)
        }
    }

    private struct Load {
        let server: RawServer
        private let transport = CurlTransport()

        init() throws {
            let body = Data(count: 20_000)
            server = try RawServer(keepsLog: false) { connection in
                while connection.readRequest() != nil { try connection.answer(body) }
            }
        }

        /// So many requests, fifty at a time.
        func run(_ count: Int) async throws {
            let (transport, url) = (transport, server.url("/image"))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<count {
                    if index >= 50 { #expect(try await group.next() == 20_000) }
                    group.addTask { try await transport.send(.patient(url)).body.collected().count }
                }
                for try await size in group { #expect(size == 20_000) }
            }
        }

        static func residentBytes() -> Int {
            let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let words = text?.split(separator: " ") ?? []
            return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
        }
    }
}
