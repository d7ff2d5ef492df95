import Foundation
import Halcyon
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Kept bodies at the limits of their age, their size and their labels.
@Suite(.timeLimit(.minutes(5)))
struct PartialBodyBoundaryTests {
    private typealias Fixture = ResumeFixture
    private static let kept = 1_500_000

    private func breakOff(_ fixture: Fixture, _ store: PartialBodyFiles, _ path: String? = nil) async {
        let url = path.map { fixture.server.url($0) } ?? fixture.url
        await #expect(throws: DownloadError.self) { try await fixture.downloader(store).download(url) }
    }

    /// Has a store look at what it keeps, by a download that has nothing to do with it.
    private func look(_ fixture: Fixture, _ store: PartialBodyFiles) async throws {
        _ = try await fixture.downloader(store).download(fixture.server.url("/other"))
    }

    /// A body that is kept has the store look at the others.
    @Test func aBodyIsKeptForAWholeDay() async throws {
        let broken = Fixture.broken(at: Self.kept)
        let fixture = try Fixture(broken, broken, broken)
        let clock = ManualClock()
        let store = fixture.store(clock: clock.timeSource)
        await breakOff(fixture, store)
        let first = try #require(fixture.fileNames.first)
        clock.advance(by: .seconds(86_400))
        await breakOff(fixture, store, "/second")
        #expect(fixture.fileNames.count == 2)
        clock.advance(by: .milliseconds(1))
        await breakOff(fixture, store, "/third")
        #expect(fixture.fileNames.count == 2)
        #expect(!fixture.fileNames.contains(first))
    }

    @Test func keptBodiesMayFillTheirLimit() async throws {
        let fixture = try Fixture(Fixture.broken(at: Self.kept), Fixture.proper(body: Data("x".utf8)))
        await breakOff(fixture, fixture.store())
        let name = try #require(fixture.fileNames.first)
        var limits = PartialBodyLimits()
        limits.keptBytes = try Data(contentsOf: fixture.folder.url.appending(path: name)).count
        try await look(fixture, fixture.store(limits: limits))
        #expect(fixture.fileNames == [name])
        limits.keptBytes -= 1
        try await look(fixture, fixture.store(limits: limits))
        #expect(fixture.fileNames.isEmpty)
    }

    /// A label has the response's fields, and at most 60 KiB.
    @Test func aBodyWhoseFieldsAreTooLongIsNotKept() async throws {
        let length = Lock(1)
        let fixture = try Fixture({ connection, head in
            let long = String(repeating: "x", count: length.withLock { $0 })
            try Fixture.broken(at: Self.kept, "\(Fixture.tag)X-Long: \(long)\r\n")(connection, head)
        })
        await breakOff(fixture, fixture.store())
        let name = try #require(fixture.fileNames.first)
        let start = try Data(contentsOf: fixture.folder.url.appending(path: name)).prefix(16)
        let label = start.dropFirst(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        await fixture.store().removeAll()
        #expect(fixture.fileNames.isEmpty)
        // Each further byte of the field is one of the label.
        length.withLock { $0 += (60 << 10) - label }
        await breakOff(fixture, fixture.store())
        #expect(fixture.fileNames.count == 1)
        await breakOff(fixture, fixture.store())
        #expect(fixture.field("Range", of: 3) == "bytes=\(Self.kept)-")
        await fixture.store().removeAll()
        length.withLock { $0 += 1 }
        await breakOff(fixture, fixture.store())
        #expect(fixture.fileNames.isEmpty)
    }
}
