import Foundation
import HalcyonTesting
import Testing

@testable import CacheStress
@testable import HalcyonCache

/// The calls of the file system that the cache makes.
@Suite(.timeLimit(.minutes(5))) struct DiskCallsTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    private func calls(_ fixture: DiskFixture) -> [FileOperation: Int] {
        FileOperation.allCases.reduce(into: [:]) { $0[$1] = fixture.files.calls(of: $1) }
    }

    private func calls(_ fixture: DiskFixture, during body: () throws -> Void) rethrows -> [FileOperation: Int] {
        let before = calls(fixture)
        try body()
        return calls(fixture).merging(before) { $0 - $1 }.filter { $0.value > 0 }
    }

    @Test func aStoreOverAnEntryMakesNoCallTwice() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        await fixture.cache.trimIfNeeded()
        let calls = try calls(fixture) {
            try fixture.cache.storeSynchronously(Data(count: 100), metadata: data, for: key)
        }
        // Opened and closed are two files: the former one is held open.
        #expect(calls == [.open: 2, .status: 1, .write: 1, .setTimes: 1, .close: 2, .rename: 1])
        #expect(fixture.cache.estimatedSize == (try fixture.status(key).size))
    }

    @Test func toAskForAnEntryIsOneCall() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        await fixture.cache.trimIfNeeded()
        for (key, isThere) in [(key, true), (DiskFixture.key(1), false)] {
            var isFound: Bool?
            let calls = calls(fixture) { isFound = fixture.cache.containsSynchronously(key) }
            #expect(isFound == isThere)
            #expect(calls == [.status: 1])
        }
    }

    /// The entry that is there when a write begins need not be the one that the write replaces.
    @Test func sizesAreRightWhenTheFormerEntryWentMeanwhile() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(Data(count: 1000), for: key)
        fixture.files.hold(.write)
        await fixture.cache.stage(data, for: key)
        try await fixture.files.waitForHeld(.write)
        #expect(await fixture.cache.trim(to: 0).entries == 1)
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(await fixture.cache.entry(for: key)?.data == data)
        #expect(fixture.cache.estimatedSize == (try fixture.status(key).size))
    }

    /// The trim that a scan leads to uses the scan's findings instead of scanning again.
    @Test func aDueScanServesTheTrim() async throws {
        let fixture = DiskFixture(sizeLimit: 10_000)
        for number in 0..<8 {
            try await fixture.cache.store(Data(count: 1000), for: DiskFixture.key(number))
            fixture.clock.advance(by: .seconds(1))
        }
        await fixture.cache.trimIfNeeded()
        // It learns what is there from the scan behind its first write, and that the limit is passed.
        let cache = DiskCache(
            folder: fixture.folder, configuration: fixture.cache.configuration, fileSystem: fixture.files,
            timeSource: fixture.clock.timeSource)
        let before = fixture.files.calls(of: .list)
        try cache.storeSynchronously(Data(count: 5000), for: key)
        await cache.trimIfNeeded()
        #expect(fixture.files.calls(of: .list) - before == 256)
        #expect(!fixture.exists(DiskFixture.key(0)))
        #expect(cache.estimatedSize <= 8000)
        #expect(await cache.size() == cache.estimatedSize)
        #expect(await cache.entry(for: key)?.data.count == 5000)
    }

    /// A file system that was written before the protocol had all its calls.
    @Test func aFileSystemWithoutTheLaterCallsWillDo() async throws {
        let fixture = DiskFixture()
        let cache = DiskCache(
            folder: fixture.folder, configuration: fixture.cache.configuration,
            fileSystem: KillingFileSystem(deadly: nil, last: 0, isBefore: true), timeSource: fixture.clock.timeSource)
        for content in [data, Data()] {
            try await cache.store(content, metadata: data, for: key)
            #expect(cache.containsSynchronously(key))
            let entry = await cache.entry(for: key)
            #expect(entry?.data == content)
            #expect(entry?.metadata == data)
        }
        fixture.clock.advance(by: .seconds(8 * 86_400))
        #expect(!cache.containsSynchronously(key))
    }

    /// Folders of any length, and any characters.
    @Test(arguments: ["a", "ö %25", String(repeating: "long/", count: 300) + "end"])
    func anEntryIsFoundWhereverTheFolderLies(name: String) throws {
        let fixture = DiskFixture()
        let cache = DiskCache(
            folder: fixture.folder.appending(path: name), configuration: fixture.cache.configuration,
            timeSource: fixture.clock.timeSource)
        #expect(!cache.containsSynchronously(key))
        try cache.storeSynchronously(data, for: key)
        #expect(cache.containsSynchronously(key))
        #expect(cache.entrySynchronously(for: key)?.data == data)
        #expect(FileManager.default.fileExists(atPath: cache.path(for: key).path(percentEncoded: false)))
    }

    @Test(arguments: [-1e300, -1, -0.5, 0, 0.5, 1, 1.5, 1e9, 1e9 + 0.25, 4_102_444_798.5, 4_102_444_799, 1e300])
    func aTimeIsAfterADateIfItsTimeIs(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        for whole in [-1, 0, 1, 2, 1_000_000_000, 1_000_000_001, 4_102_444_798, 4_102_444_799, 4_102_444_800] {
            for nanoseconds in [0, 1, 249_999_999, 250_000_001, 500_000_000, 999_999_999] {
                let time = FileTime(seconds: whole, nanoseconds: nanoseconds)
                #expect(time.isAfter(date) == (FileTime(date) < time), "\(time)")
            }
        }
    }
}
