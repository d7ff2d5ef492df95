import Foundation
import Testing

@testable import CacheStress
@testable import HalcyonCache

/// The models that the proofs of the disk cache use must themselves detect faults.
@Suite struct StressModelTests {
    let content = StressContent(key: 3, version: 5, largest: KillRun.largest)

    /// Returns the model's problems after a child sent these messages and the folder has this content.
    private func problems(_ output: String, isTight: Bool = false, _ fill: (DiskCache) throws -> Void) throws -> Int {
        let fixture = DiskFixture()
        try fill(fixture.cache)
        var model = KillModel(isTight: isTight)
        model.take(Data(output.utf8))
        model.check(fixture.cache)
        return model.problems.count
    }

    private func store(_ data: Data, in cache: DiskCache) throws {
        try cache.storeSynchronously(
            data, metadata: content.metadata, extended: content.extended, for: StressContent.key(3))
    }

    @Test func modelRequiresConfirmedEntries() throws {
        #expect(try problems("b 3 5\nd 3\n") { _ in } == 1)
        #expect(try problems("b 3 5\nf 0\n") { _ in } == 1)
        #expect(try problems("b 3 5\nf 1\n") { _ in } == 0)
        #expect(try problems("b 3 5\nd 3\n", isTight: true) { _ in } == 0)
        #expect(try problems("b 3 5\nd 3\n") { try store(content.data, in: $0) } == 0)
        #expect(try problems("b 3 5\nd 3\nb 3 6\n") { try store(content.data, in: $0) } == 0)
        #expect(try problems("b 3 5\nd 3\nb 3 6\nd 3\n") { try store(content.data, in: $0) } == 1)
        #expect(try problems("b 3 5\nd 3\nr 3\nd 3\n") { try store(content.data, in: $0) } == 1)
        #expect(try problems("b 3 5\nd 3\nr 3\n") { _ in } == 0)
        #expect(try problems("") { try store(content.data, in: $0) } == 1)
    }

    @Test func otherBytesAreFound() throws {
        var other = content.data
        other[other.count - 1] ^= 1
        #expect(try problems("b 3 5\nd 3\n") { try store(other, in: $0) } == 1)
        #expect(try problems("b 3 5\n") { try store(content.data.dropLast(), in: $0) } == 1)
        #expect(try problems("b 3 5\n", isTight: true) { try store(Data(), in: $0) } == 1)
        #expect(try problems("w something\nnonsense\n") { _ in } == 2)
    }

    @Test func aLineThatWasCutDoesNotCount() {
        #expect(StressReport.lines(Data("b 3 5\nd 3\nb 3 1".utf8)) == ["b 3 5", "d 3"])
        #expect(StressReport.lines(Data("b 3".utf8)).isEmpty)
        for report in [
            StressReport.begun(key: 1, version: 2), .removing(key: 1), .done(key: 1), .flushed(worker: 2),
            .dying(in: "rename"), .wrong("a b"), .finished([1, 2]),
        ] {
            #expect(StressReport(report.line.dropLast()) == report)
        }
        #expect(StressReport("b 3") == nil)
    }

    @Test func modelRejectsOverwrittenValues() {
        var history = ModelHistory()
        history.begin(1)
        #expect(history.mayBeRead(1, since: history.mark))
        #expect(history.mayBeRead(0, since: history.mark))
        history.end(1, begun: 1, at: 2)
        let early = history.mark
        #expect(!history.mayBeRead(0, since: early))
        history.begin(2)
        history.begin(3)
        #expect(history.mayBeRead(1, since: history.mark))
        history.end(2, begun: 3, at: 5)
        // A read that began before that may still give the first.
        #expect(history.mayBeRead(1, since: early))
        #expect(!history.mayBeRead(1, since: history.mark))
        #expect(history.mayBeRead(3, since: history.mark))
        history.cancel(3)
        #expect(!history.mayBeRead(3, since: history.mark))
        #expect(!history.mayBeRead(9, since: history.mark))
    }
}
