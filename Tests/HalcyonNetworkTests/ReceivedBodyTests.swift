import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// The bytes of a body that is still on its way.
@Suite(.timeLimit(.minutes(5)))
struct ReceivedBodyTests {
    private static let pieces = 200
    private static let size = 10_000

    private static func piece(_ index: Int) -> Data { Data(repeating: UInt8(truncatingIfNeeded: index), count: size) }

    private func address(_ data: Data) -> UnsafeRawPointer? { data.withUnsafeBytes { $0.baseAddress } }

    /// Bytes that were read stay as they were, and reading them again costs no copy.
    @Test func growingBodyIsReadWithoutCopies() async throws {
        let fixture = DownloaderFixture()
        fixture.transport.answer(
            fixture.url(), with: .init(steps: (0..<Self.pieces).map { .chunk(Self.piece($0)) }))
        let bodies = Lock<[(body: ReceivedBody, chunks: ArraySlice<Data>)]>([])
        var request = DownloadRequest(url: fixture.url())
        request.exposesBody = true
        let result = try await fixture.downloader.download(request) { progress in
            guard let body = progress.body else { return }
            bodies.withLock { $0.append((body, body.chunks())) }
        }
        let seen = bodies.withLock { $0 }
        let last = try #require(seen.last)
        #expect(last.chunks.count == Self.pieces)
        for (body, chunks) in seen {
            #expect(body == last.body)
            for (index, chunk) in chunks.enumerated() {
                #expect(chunk == Self.piece(index))
                #expect(address(chunk) == address(last.chunks[index]))
            }
        }
        // Each time one more than before.
        #expect(seen.map(\.chunks.count) == Array(0...Self.pieces))
        #expect(result.data.count == Self.pieces * Self.size)
    }

    @Test func aThreadMayReadAllTheWhile() async throws {
        let fixture = DownloaderFixture()
        let gate = ScriptedTransportGate()
        fixture.transport.answer(
            fixture.url(), with: .init(steps: [.wait(gate)] + (0..<Self.pieces).map { .chunk(Self.piece($0)) }))
        let known = Lock<ReceivedBody?>(nil)
        let (stopped, wrong) = (Lock(false), Counter())
        let threads = ThreadPool(name: "test-readers", threads: 1)
        let reader = Task {
            try await threads.run { _ in
                gate.open()
                while !stopped.withLock({ $0 }) {
                    guard let body = known.withLock({ $0 }) else { continue }
                    for (index, chunk) in body.chunks().enumerated() where chunk.first != UInt8(index) {
                        wrong.increment()
                    }
                }
            }
        }
        var request = DownloadRequest(url: fixture.url())
        request.exposesBody = true
        _ = try await fixture.downloader.download(request) { progress in
            known.withLock { $0 = progress.body }
        }
        stopped.withLock { $0 = true }
        try await reader.value
        #expect(wrong.value == 0)
        #expect(known.withLock { $0?.chunks().count } == Self.pieces)
    }
}
