import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// The looks at the beginning of a body that is being transferred.
@Suite(.timeLimit(.minutes(5)))
struct BeginningCheckTests {
    private struct Unwanted: Error {}

    /// The owner of checks, which notes the number of bytes at each look.
    private final class Looks: Sendable {
        let counts = Lock<[Int]>([])
        let texts = Lock<[Data]>([])

        /// - Parameters:
        ///   - refused: the number of bytes from which the body is refused.
        ///   - decided: the number of bytes from which no more are looked at.
        func check(refused: Int = .max, decided: Int = .max, values: [Int] = []) -> BeginningCheck {
            BeginningCheck(owner: self, values: values) { [self] data in
                counts.withLock { $0.append(data.count) }
                texts.withLock { $0.append(Data(data.prefix(4))) }
                if data.count >= refused { throw Unwanted() }
                return data.count >= decided
            }
        }
    }

    private let fixture = DownloaderFixture(retry: RetryPolicy(maximumRetries: 3))
    private let looks = Looks()

    private func request(_ check: BeginningCheck?) -> DownloadRequest {
        var request = DownloadRequest(url: fixture.url())
        request.beginning = check
        return request
    }

    /// Scripts a body that comes byte by byte, and then nothing for ever.
    private func drip(_ body: Data, headers: HTTPHeaders = [:]) {
        let steps = body.map { ScriptedTransport.Answer.Step.chunk(Data([$0])) }
        fixture.transport.answer(
            fixture.url(), with: .init(headers: headers, steps: steps + [.wait(ScriptedTransportGate())]))
    }

    @Test func aRefusalEndsTheTransferWithItsError() async throws {
        drip(Data(count: 200))
        do {
            _ = try await fixture.downloader.download(request(looks.check(refused: 100)))
            Issue.record("the body was taken")
        } catch let error as DownloadError {
            #expect(error.code == "refused")
            let refusal = try #require(error.underlying as? BeginningCheck.Refusal)
            #expect(refusal.reason is Unwanted)
        }
        #expect(looks.counts.withLock { $0 } == [32, 128])
        #expect(fixture.transport.cancelled == [fixture.url()])
        // No attempt follows: it would be the same.
        #expect(fixture.transport.requestCount == 1)
    }

    @Test func aBodyInManyPiecesIsLookedAtSeldom() async throws {
        let body = Data((0..<5000).map { UInt8($0 & 255) })
        fixture.transport.answer(fixture.url(), with: .init(steps: body.map { .chunk(Data([$0])) }))
        let result = try await fixture.downloader.download(request(looks.check()))
        #expect(result.data == body)
        #expect(looks.counts.withLock { $0 } == [32, 128, 512, 2048])
        #expect(looks.texts.withLock { $0 } == Array(repeating: Data([0, 1, 2, 3]), count: 4))
    }

    @Test func aLookThatKnowsEnoughIsTheLastOne() async throws {
        fixture.transport.answer(
            fixture.url(), with: .init(steps: (0..<9).map { _ in .chunk(Data(count: 16 << 10)) }))
        _ = try await fixture.downloader.download(request(looks.check(decided: 1)))
        #expect(looks.counts.withLock { $0 } == [16 << 10])
    }

    @Test func noMoreThanAMebibyteIsLookedAt() async throws {
        let chunk = Data(count: 256 << 10)
        fixture.transport.answer(fixture.url(), with: .init(steps: (0..<40).map { _ in .chunk(chunk) }))
        _ = try await fixture.downloader.download(request(looks.check()))
        #expect(looks.counts.withLock { $0 } == [256 << 10, 1 << 20])
    }

    @Test(arguments: [Packing.gzip, .zlib]) func packedBodiesAreLookedAtUnpacked(packing: Packing) async throws {
        let body = Data([9, 8, 7, 6]) + Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let coding = packing == .gzip ? "gzip" : "deflate"
        fixture.transport.answer(
            fixture.url(), with: .data(packing.pack(body), headers: ["Content-Encoding": coding]))
        #expect(try await fixture.downloader.download(request(looks.check(decided: 1))).data == body)
        #expect(looks.texts.withLock { $0 } == [Data([9, 8, 7, 6])])
        await #expect(throws: DownloadError.self) {
            try await fixture.downloader.download(request(looks.check(refused: 1)))
        }
    }

    /// A part that the request asks for need not be the first one, and a hook makes other bytes of a body.
    @Test func partsAndChangedBodiesAreNotLookedAt() async throws {
        fixture.transport.answer(
            fixture.url(),
            with: .data(Data(count: 100), status: 206, headers: ["Content-Range": "bytes 100-199/1000"]))
        var part = request(looks.check(refused: 1))
        part.headers["Range"] = "bytes=100-199"
        #expect(try await fixture.downloader.download(part).data.count == 100)
        fixture.transport.answer(fixture.url(), with: .data(Data(count: 100)))
        var hooks = DownloadHooks()
        hooks.data = { body, _ in body + [1] }
        var changed = request(looks.check(refused: 1))
        changed.hooks = RequestHooks(id: "longer", hooks)
        #expect(try await fixture.downloader.download(changed).data.count == 101)
        #expect(looks.counts.withLock { $0 } == [])
    }

    @Test func transfersAreSharedByEqualChecks() async throws {
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: .data(Data(count: 50)).held(by: gate))
        let downloads = [[1], [1], [2]].map { values in
            Task { [self] in try await fixture.downloader.download(request(looks.check(values: values))).data.count }
        }
        let plain = Task { [self] in try await fixture.downloader.download(request(nil)).data.count }
        try await fixture.transport.waitForRequests(3)
        while fixture.downloader.subscriberCount < 4 { await Task.yield() }
        gate.open()
        for download in downloads + [plain] { #expect(try await download.value == 50) }
        #expect(fixture.transport.requestCount == 3)
    }
}
