import Foundation
import Glibc
import HalcyonNetwork
import TestSupport
import Testing

/// Many requests through one transport: all are answered, and what they took is given back.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct LoadTests {
    /// `HALCYON_SOAK` runs the full counts, and only then the memory is judged.
    private let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil

    @Test func memoryStaysWhereItIs() async throws {
        let body = Data(count: 20_000)
        let server = try RawServer { connection in
            while connection.readRequest() != nil { try connection.answer(body) }
        }
        defer { server.stop() }
        let transport = CurlTransport()
        let url = server.url("/image")
        func run(_ count: Int) async throws {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<count {
                    if index >= 50 { #expect(try await group.next() == 20_000) }
                    group.addTask { try await transport.send(.patient(url)).body.collected().count }
                }
                for try await size in group { #expect(size == 20_000) }
            }
        }
        try await run(isSoak ? 5_000 : 50)
        let before = Self.residentBytes()
        let start = clock()
        try await run(isSoak ? 25_000 : 250)
        let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        let grown = Self.residentBytes() - before
        guard isSoak else { return }
        print(
            "25,000 requests: \(grown / 1024) KiB more resident, \(Int(seconds * 1e6 / 25_000)) us of CPU each, both sides"
        )
        // The test's server and its log live in the same process: they take a share of it.
        #expect(grown < 8 << 20)
    }

    private static func residentBytes() -> Int {
        let words = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return (words.count > 1 ? Int(words[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
    }
}
