import Foundation
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonCache

/// Reads of entries that the kernel has in memory, on the caller's thread.
@Suite(.timeLimit(.minutes(5)))
struct DiskCachedReadTests {
    /// A cache on the real file system with one thread.
    private final class Fixture: Sendable {
        let folder = FileManager.default.temporaryDirectory.appending(path: "halcyon-cache-\(UUID().uuidString)")
        let clock = ManualClock()
        let pool = ThreadPool(name: "test-io", threads: 1)
        let cache: DiskCache
        let key = CacheKey("small".utf8)

        init() {
            cache = DiskCache(
                folder: folder, configuration: DiskCache.Configuration(expiration: .days(7), sweepInterval: nil),
                fileSystem: PosixFileSystem(), timeSource: clock.timeSource, threads: pool)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        var file: String { folder.appending(path: key.folderName).appending(path: key.fileName).path }

        /// Stores an entry and reads it once, after which the owner of the folder is known.
        func store(_ data: Data) async throws {
            try await cache.store(data, for: key)
            #expect(await cache.entry(for: key)?.data == data)
        }

        /// Whether the file system tells which bytes are in memory: some do not.
        func isSupported() -> Bool {
            let files = PosixFileSystem()
            guard let file = try? files.openCached(file) else { return false }
            defer { try? files.close(file) }
            return withUnsafeTemporaryAllocation(byteCount: 16, alignment: 1) {
                (try? files.readCached(file, into: $0, at: 0)) == 16
            }
        }
    }

    @Test func aSmallEntryInMemoryNeedsNoThread() async throws {
        let fixture = Fixture()
        let data = Data((0..<40_000).map { UInt8(truncatingIfNeeded: $0) })
        try await fixture.store(data)
        guard fixture.isSupported() else { return }
        let (isBusy, isFree) = (ScriptedTransportGate(), DispatchSemaphore(value: 0))
        fixture.pool.submit {
            isBusy.open()
            isFree.wait()
        }
        try await isBusy.wait()
        let hits = fixture.cache.statistics.hits
        #expect(await fixture.cache.entry(for: fixture.key)?.data == data)
        #expect(fixture.cache.statistics.hits == hits + 1)
        isFree.signal()
    }

    @Test(arguments: [0, 1, 100_000, 131_072, 131_073, 1_000_000])
    func entriesOfAnySizeAreRead(size: Int) async throws {
        let fixture = Fixture()
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try await fixture.store(data)
        let entry = try #require(await fixture.cache.entry(for: fixture.key))
        #expect(entry.data == data && entry.keptUntil == fixture.clock.now.addingTimeInterval(7 * 86_400))
    }

    @Test func aDamagedEntryIsRemoved() async throws {
        let fixture = Fixture()
        try await fixture.store(Data(repeating: 7, count: 5_000))
        let handle = try FileHandle(forWritingTo: URL(filePath: fixture.file))
        try handle.seek(toOffset: 2_000)
        try handle.write(contentsOf: Data([8]))
        try handle.close()
        #expect(await fixture.cache.entry(for: fixture.key) == nil)
        #expect(!FileManager.default.fileExists(atPath: fixture.file))
    }

    @Test func aFileThatIsCutOffIsRemoved() async throws {
        let fixture = Fixture()
        try await fixture.store(Data(repeating: 7, count: 5_000))
        try #require(truncate(fixture.file, 4_000) == 0)
        #expect(await fixture.cache.entry(for: fixture.key) == nil)
        #expect(!FileManager.default.fileExists(atPath: fixture.file))
    }

    @Test func aLinkInThePlaceOfAnEntryIsNotFollowed() async throws {
        let fixture = Fixture()
        try await fixture.store(Data(repeating: 7, count: 5_000))
        let elsewhere = fixture.file + "-elsewhere"
        try FileManager.default.moveItem(atPath: fixture.file, toPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: fixture.file, withDestinationPath: elsewhere)
        #expect(await fixture.cache.entry(for: fixture.key) == nil)
    }

    @Test func anEntryEndsAndIsExtendedAsAnyOther() async throws {
        let fixture = Fixture()
        try await fixture.store(Data(repeating: 7, count: 5_000))
        fixture.clock.advance(by: .seconds(6 * 86_400))
        let extended = try #require(await fixture.cache.entry(for: fixture.key)?.keptUntil)
        #expect(extended == fixture.clock.now.addingTimeInterval(7 * 86_400))
        fixture.clock.advance(by: .seconds(6 * 86_400))
        #expect(await fixture.cache.entry(for: fixture.key) != nil)
        fixture.clock.advance(by: .seconds(8 * 86_400))
        #expect(await fixture.cache.entry(for: fixture.key) == nil)
    }

    @Test func aCancelledTaskReadsNothing() async throws {
        let fixture = Fixture()
        try await fixture.store(Data(repeating: 7, count: 5_000))
        let entry = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await fixture.cache.entry(for: fixture.key)
        }.value
        #expect(entry == nil)
    }
}
