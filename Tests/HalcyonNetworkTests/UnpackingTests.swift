import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UnpackingTests {
    private let fixture = DownloaderFixture()
    /// Several pieces of output, not too easy to pack. Made anew each time: a constant looks like a leak to the checker.
    private static var body: Data { Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }) }

    /// Answers in chunks of a size.
    private func answer(_ bytes: Data, coding: String, chunk: Int = 1000, length: Int? = nil) {
        let chunks = stride(from: 0, to: bytes.count, by: chunk).map { bytes.dropFirst($0).prefix(chunk) }
        fixture.transport.answer(
            fixture.url(),
            with: .init(
                headers: ["Content-Length": "\(length ?? bytes.count)", "Content-Encoding": coding],
                steps: chunks.map { .chunk($0) }))
    }

    private func download(limit: Int = 1_000_000) async throws -> Data {
        try await fixture.downloader.download(DownloadRequest(url: fixture.url(), maximumBytes: limit)).data
    }

    private func failure(limit: Int = 1_000_000) async -> DownloadError.Reason? {
        await #expect(throws: DownloadError.self) { try await download(limit: limit) }?.reason
    }

    static let codings: [(String, Packing)] = [
        ("gzip", .gzip), ("x-gzip", .gzip), ("GZIP", .gzip), ("identity, gzip", .gzip), ("deflate", .zlib),
        ("deflate", .raw), ("gzip, aws-chunked", .gzip),
    ]

    @Test(arguments: codings, [1, 1000, 1_000_000])
    func compressedBodyIsDecompressed(_ coding: (String, Packing), chunk: Int) async throws {
        // One byte at a time takes long for a long one.
        let body = chunk == 1 ? Self.body.prefix(3000) : Self.body
        answer(coding.1.pack(body), coding: coding.0, chunk: chunk)
        #expect(try await download() == body)
    }

    @Test func codingsOnTopOfEachOtherAreUndone() async throws {
        answer(Packing.gzip.pack(Packing.zlib.pack(Self.body)), coding: "deflate, gzip")
        #expect(try await download() == Self.body)
    }

    @Test(arguments: [1, 7, 1000, 1_000_000])
    func fourCodingsAreUndone(chunk: Int) async throws {
        let body = chunk == 1 ? Self.body.prefix(3000) : Self.body
        let packed = Packing.gzip.pack(Packing.raw.pack(Packing.gzip.pack(Packing.zlib.pack(body))))
        answer(packed, coding: "deflate, gzip, deflate, x-gzip", chunk: chunk)
        #expect(try await download() == body)
    }

    /// Empty blocks, as many as fit into the limit four times over: they have no result, and the transfer does not wait for
    /// one.
    @Test func emptyBlocksBecomeNothing() async throws {
        func packed(_ count: Int) -> Data {
            let blocks = (0..<count).flatMap { _ in [0, 0, 0, 0xFF, 0xFF] as [UInt8] }
            let member = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + blocks)
            return Packing.gzip.pack(Packing.gzip.pack(Packing.gzip.pack(member)))
        }
        let few = packed(15_000)
        answer(few, coding: "gzip, gzip, gzip, gzip")
        #expect(await failure(limit: 100_000) == .incompleteBody(received: few.count, expected: nil))
        // More than any of the codings may unpack to.
        answer(packed(25_000), coding: "gzip, gzip, gzip, gzip")
        #expect(await failure(limit: 100_000) == .tooLarge(limit: 100_000))
    }

    @Test(arguments: ["aws-chunked", "utf-8", "br", "identity", ""])
    func unknownCodingsPassThrough(_ coding: String) async throws {
        answer(Self.body, coding: coding)
        #expect(try await download() == Self.body)
    }

    @Test func gzipMembersAreJoinedAndPaddingIsIgnored() async throws {
        let (first, second) = (Self.body.prefix(5000), Self.body.dropFirst(5000))
        answer(Packing.gzip.pack(first) + Packing.gzip.pack(second) + Data(count: 3000), coding: "gzip", chunk: 7)
        #expect(try await download() == Self.body)
    }

    @Test(arguments: ["gzip", "deflate"])
    func emptyCompressedBodyIsComplete(_ coding: String) async throws {
        answer(Data(), coding: coding)
        #expect(try await download().isEmpty)
        answer(Packing.gzip.pack(Data()), coding: "gzip")
        #expect(try await download().isEmpty)
    }

    @Test(arguments: Packing.allCases)
    func truncatedCompressedBodyIsIncomplete(_ packing: Packing) async throws {
        let packed = packing.pack(Self.body)
        for count in [1, 2, 12, packed.count / 2, packed.count - 1] {
            answer(packed.prefix(count), coding: packing == .gzip ? "gzip" : "deflate")
            #expect(await failure() == .incompleteBody(received: count, expected: nil))
        }
    }

    @Test func damagedCompressedBodyIsAnError() async throws {
        var packed = Packing.gzip.pack(Self.body)
        // The checksum at the end.
        packed[packed.count - 6] ^= 0xFF
        answer(packed, coding: "gzip")
        #expect(await failure() == .connection(.badEncoding))
        answer(Data("this is no gzip".utf8), coding: "gzip")
        let error = await #expect(throws: DownloadError.self) { try await download() }
        #expect(error?.code == "connection")
        #expect(error?.description == "one.test/a: the body cannot be decompressed")
    }

    @Test func theLengthIsThatOnTheWire() async throws {
        let packed = Packing.gzip.pack(Self.body)
        answer(packed, coding: "gzip", chunk: 1000)
        let progress = Lock<[DownloadProgress]>([])
        _ = try await fixture.downloader.download(DownloadRequest(url: fixture.url())) { value in
            progress.withLock { $0.append(value) }
        }
        #expect(progress.withLock { $0[1] } == DownloadProgress(received: 1000, expected: packed.count))
        #expect(progress.withLock { $0.last } == DownloadProgress(received: packed.count, expected: packed.count))
        answer(packed, coding: "gzip", length: packed.count + 1)
        #expect(await failure() == .incompleteBody(received: packed.count, expected: packed.count + 1))
    }

    @Test func exposedBodyIsDecompressed() async throws {
        answer(Packing.gzip.pack(Self.body), coding: "gzip")
        let shown = Lock<ReceivedBody?>(nil)
        var request = DownloadRequest(url: fixture.url())
        request.exposesBody = true
        _ = try await fixture.downloader.download(request) { value in shown.withLock { $0 = value.body } }
        let body = try #require(shown.withLock { $0 })
        #expect(body.chunks().reduce(Data(), +) == Self.body)
    }

    @Test func theLimitCountsWhatIsUnpacked() async throws {
        answer(Packing.gzip.pack(Self.body), coding: "gzip", chunk: 1_000_000)
        #expect(try await download(limit: Self.body.count) == Self.body)
        #expect(await failure(limit: Self.body.count - 1) == .tooLarge(limit: Self.body.count - 1))
    }

    @Test func aBombCostsNoMoreThanTheLimit() async throws {
        // 60 MB in 58 KB, over a socket; and once more around it.
        let bomb = Packing.gzip.pack(Data(count: 60_000_000))
        let twice = Packing.gzip.pack(bomb)
        let server = try RawServer { connection in
            let head = connection.readRequest() ?? ""
            let isTwice = RawServerConnection.path(of: head) == "/twice"
            try connection.answer(
                isTwice ? twice : bomb, fields: "Content-Encoding: \(isTwice ? "gzip, gzip" : "gzip")\r\n")
        }
        defer { server.stop() }
        let downloader = ImageDownloader.patient()
        for path in ["/once", "/twice"] {
            let shown = Lock<ReceivedBody?>(nil)
            var request = DownloadRequest(url: server.url(path), maximumBytes: 1_000_000)
            request.exposesBody = true
            let error = await #expect(throws: DownloadError.self) {
                try await downloader.download(request) { value in shown.withLock { $0 = value.body } }
            }
            #expect(error?.reason == .tooLarge(limit: 1_000_000))
            // Nothing was unpacked beyond it.
            let body = shown.withLock { $0 }
            #expect(body?.chunks().reduce(0) { $0 + $1.count } ?? 0 <= 1_000_000)
        }
    }

    @Test func acceptEncodingListsSupportedCodings() async throws {
        answer(Self.body, coding: "identity")
        _ = try await download()
        #expect(fixture.transport.requests.last?.headers["Accept-Encoding"] == "gzip, deflate")
        let own = DownloadRequest(url: fixture.url(), headers: ["accept-encoding": "br"])
        _ = try await fixture.downloader.download(own)
        #expect(fixture.transport.requests.last?.headers.values(of: "Accept-Encoding") == ["br"])
    }
}
