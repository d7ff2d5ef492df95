import Foundation
import Halcyon
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Missing images that are remembered on the disk. Each fixture is one run of a program, and all have one folder.
@Suite(.timeLimit(.minutes(5)))
struct StoredFailureTests {
    private let clock = ManualClock()
    private let folder = PipelineFixture.temporaryFolder()
    private let url = PipelineFixture.url("a")
    private let other = PipelineFixture.url("b?size=1")
    /// All runs until the end of a test: the first that goes takes the folder with it.
    private let runs = Lock<[PipelineFixture]>([])

    /// A run of the program, whose server answers both URLs alike; by default with an image.
    private func run(
        keeps: Bool = true, _ answer: ScriptedTransport.Answer? = nil,
        isRemembered: @escaping @Sendable (ImagePipelineError) -> Bool = { RememberedFailures.isLasting($0) }
    ) throws -> PipelineFixture {
        let fixture = PipelineFixture(folder: folder, clock: clock.timeSource) {
            $0.rememberedFailures = RememberedFailures(isRemembered: isRemembered, keepsOnDisk: keeps)
        }
        let answer = try answer ?? .data(try TestFiles.data("png/rgb8.png"))
        for url in [url, other] { fixture.transport.answer(url, with: answer) }
        runs.withLock { $0.append(fixture) }
        return fixture
    }

    private func error(_ fixture: PipelineFixture, _ request: ImageRequest? = nil) async -> ImagePipelineError? {
        do {
            _ = try await fixture.pipeline.image(for: request ?? ImageRequest(url))
            return nil
        } catch {
            return error as? ImagePipelineError
        }
    }

    private func isRemembered(_ error: ImagePipelineError?) -> Bool {
        if case .remembered? = error { true } else { false }
    }

    /// The stored failures, which are entries without bytes.
    private func stored(_ fixture: PipelineFixture) async throws -> [DiskCache.EntryInfo] {
        let disk = try #require(fixture.pipeline.cache.disk)
        await disk.flush()
        return await disk.entries().filter { $0.dataSize == 0 }
    }

    @Test(arguments: [404, 410])
    func missingImagesAreRememberedAcrossRuns(_ status: Int) async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=600", "Set-Cookie": "a=hidden"]
        let first = try run(.status(status, headers: headers))
        let new = await error(first)
        #expect(!isRemembered(new))
        let entry = try #require(try await stored(first).first)
        #expect(!String(decoding: entry.metadata, as: UTF8.self).contains("hidden"))
        clock.advance(by: .seconds(599))
        let second = try run()
        for _ in 0..<2 {
            let kept = await error(second)
            #expect(isRemembered(kept))
            #expect(kept?.code == new?.code && kept?.reason == new?.reason && kept?.source == new?.source)
        }
        #expect(second.transport.requestCount == 0)
        #expect(second.pipeline.rememberedFailureCount == 1)
        clock.advance(by: .seconds(1))
        #expect(await error(second) == nil)
        #expect(second.transport.requestCount == 1)
    }

    /// The requests and answers after which nothing is stored.
    static let unstored: [(String, ScriptedTransport.Answer, @Sendable (inout ImageRequest) -> Void)] = [
        ("tls", .failure(DownloadError(.tls("x"), url: PipelineFixture.url("a"))), { _ in }),
        ("no image", .data(Data("no image".utf8)), { _ in }),
        ("no-store of the server", .status(404, headers: ["Cache-Control": "no-store"]), { _ in }),
        ("no-store of the request", .status(404), { $0.network.headers.set("Cache-Control", "no-store") }),
        ("a user", .status(404), { $0.network.credential = .bearer("x") }),
        ("hooks", .status(404), { $0.network.hooks = RequestHooks(id: "a", DownloadHooks()) }),
        ("no writes", .status(404), { $0.cachePolicy.writes = .memory }),
    ]

    @Test func onlyMissingImagesOfAllUsersAreStored() async throws {
        for (name, answer, change) in Self.unstored {
            let fixture = try run(answer)
            var request = ImageRequest(url)
            change(&request)
            #expect(await error(fixture, request) != nil)
            #expect(try await stored(fixture).isEmpty, "\(name)")
        }
    }

    @Test func nothingIsStoredByDefault() async throws {
        let fixture = try run(keeps: false, .status(404))
        #expect(await error(fixture) != nil)
        #expect(try await stored(fixture).isEmpty)
        #expect(!RememberedFailures().keepsOnDisk)
    }

    @Test func storedFailuresAreForTheSameRequestsOnly() async throws {
        let first = try run(.status(404))
        _ = await error(first)
        #expect(try await stored(first).count == 1)
        let changes: [@Sendable (inout ImageRequest) -> Void] = [
            { $0.network.headers = ["X-Size": "2"] }, { $0.network.headers = ["Authorization": "x"] },
            { $0.network.hooks = RequestHooks(id: "a", DownloadHooks()) }, { $0.network.retriesFailures = true },
            { $0.cachePolicy.reads = [] }, { $0.cachePolicy.reads = .memory },
        ]
        for change in changes {
            let second = try run(.status(503))
            var request = ImageRequest(url)
            request.network.retries = 0
            change(&request)
            #expect(!isRemembered(await error(second, request)))
            #expect(second.transport.requestCount == 1)
        }
        // Without the setting, nobody looks.
        let third = try run(keeps: false)
        #expect(await error(third) == nil)
    }

    @Test func aPredicateIsAskedAboutStoredFailuresToo() async throws {
        let first = try run(.status(404))
        _ = await error(first)
        #expect(try await stored(first).count == 1)
        let second = try run(.status(404), isRemembered: { _ in false })
        #expect(!isRemembered(await error(second)))
        #expect(second.transport.requestCount == 1)
    }

    @Test func anImageThatArrivesRemovesTheStoredFailure() async throws {
        let first = try run(.status(404))
        _ = await error(first)
        #expect(try await stored(first).count == 1)
        let second = try run()
        var request = ImageRequest(url)
        request.network.retriesFailures = true
        #expect(await error(second, request) == nil)
        #expect(try await stored(second).isEmpty)
    }

    @Test func storedFailuresAreForgottenOnDemand() async throws {
        let first = try run(.status(404))
        for url in [url, other] { _ = await error(first, ImageRequest(url)) }
        #expect(try await stored(first).count == 2)
        let second = try run()
        second.pipeline.forgetFailures(PipelineFixture.url("b?size=1#part"))
        #expect(try await stored(second).count == 1)
        #expect(await error(second, ImageRequest(other)) == nil)
        #expect(isRemembered(await error(second)))
        // The entries are removed later, and ignored at once.
        second.pipeline.forgetFailures()
        #expect(await error(second) == nil)
    }

    @Test func allStoredFailuresAreRemovedInTheBackground() async throws {
        let first = try run(.status(404))
        for url in [url, other] { _ = await error(first, ImageRequest(url)) }
        let disk = try #require(first.pipeline.cache.disk)
        await disk.flush()
        try disk.storeSynchronously(Data(), metadata: Data("{}".utf8), for: CacheKey("a neighbour"))
        first.pipeline.forgetFailures()
        while try await stored(first).count > 1 { await Task.yield() }
        #expect(try await stored(first).map(\.metadata) == [Data("{}".utf8)])
    }

    @Test func damagedAndHostileEntriesAreMisses() async throws {
        let first = try run(.status(404))
        _ = await error(first)
        let entry = try #require(try await stored(first).first)
        let good = try #require(try JSONSerialization.jsonObject(with: entry.metadata) as? [String: Any])
        let until = try #require(good["until"] as? Double)
        let changes: [[String: Any]] = [
            ["status": 200], ["status": 500], ["status": -1], ["from": until], ["from": 1e308], ["until": -1e308],
            ["until": "x"], ["salt": ""], ["salt": "AAAA"], ["sent": ""], ["fields": 1], ["fields": ["fields": [[:]]]],
        ]
        var bad = try changes.map { change in
            try JSONSerialization.data(withJSONObject: good.merging(change) { $1 })
        }
        bad += [Data(), Data("{".utf8), Data("[]".utf8), Data([0xFF, 0, 0xFF]), entry.metadata.dropLast()]
        bad.append(Data(repeating: UInt8(ascii: "["), count: 50_000))
        bad.append(entry.metadata + Data(repeating: UInt8(ascii: " "), count: 70_000))
        let disk = try #require(first.pipeline.cache.disk)
        for (data, metadata) in bad.map({ (Data(), $0) }) + [(Data([1]), entry.metadata)] {
            try disk.storeSynchronously(data, metadata: metadata, for: entry.key)
            let second = try run(.status(503))
            #expect(!isRemembered(await error(second)))
            #expect(second.transport.requestCount > 0)
        }
        try disk.storeSynchronously(Data(), metadata: entry.metadata, for: entry.key)
        #expect(isRemembered(await error(try run())))
    }
}
