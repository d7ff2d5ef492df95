import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite struct DiskFaultTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    /// Every call that a store makes fails once with every error: the store throws, and nothing is left behind.
    @Test(
        arguments: [FileOperation.open, .write, .setTimes, .close, .rename, .makeDirectory],
        [ENOSPC, EACCES, EROFS, EIO])
    func aFailedWriteLeavesNothing(operation: FileOperation, code: Int32) async throws {
        let fixture = DiskFixture()
        if operation != .makeDirectory { try await fixture.cache.store(Data([1]), for: key) }
        let before = fixture.allFiles()
        fixture.files.failAlways(operation, with: code)
        let error = await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(data, for: key) }
        let cause = SystemCallError(operation, code: code)
        switch code {
        case ENOSPC: #expect(error == .noSpace(cause))
        case EACCES: #expect(error == .denied(cause))
        case EROFS: #expect(error == .readOnly(cause))
        default: #expect(error == .failed(cause))
        }
        #expect(fixture.allFiles() == before)
        fixture.files.failNothing()
        #expect(await fixture.cache.entry(for: key)?.data == (before.isEmpty ? nil : Data([1])))
        #expect(fixture.cache.statistics.failedWrites == 1)
        #expect(fixture.cache.statistics.lastWriteError == error)
        try await fixture.cache.store(data, for: key)
        #expect(await fixture.cache.entry(for: key)?.data == data)
        #expect(await fixture.cache.size() == fixture.cache.estimatedSize)
    }

    @Test func aWriteThatFailsInTheMiddleLeavesNothing() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(Data([1]), for: key)
        fixture.files.shorten(writes: 5)
        for call in 1...20 {
            fixture.files.fail(.write, call: call, with: ENOSPC)
            await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(data, for: key) }
            #expect(fixture.allFiles().count == 2)
            #expect(await fixture.cache.entry(for: key)?.data == Data([1]))
        }
    }

    @Test func shortWritesAndReadsGoOn() async throws {
        let fixture = DiskFixture()
        fixture.files.shorten(writes: 3, reads: 7)
        try await fixture.cache.store(data, metadata: data, for: key)
        let entry = await fixture.cache.entry(for: key)
        #expect(entry?.data == data)
        #expect(entry?.metadata == data)
        fixture.files.shorten(writes: 0)
        await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(data, for: key) }
    }

    @Test(arguments: [FileOperation.open, .status, .read], [EIO, EACCES, EMFILE])
    func aFailedReadIsAMissAndRemovesNothing(operation: FileOperation, code: Int32) async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        fixture.files.failAlways(operation, with: code)
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(await !fixture.cache.contains(key))
        #expect(await fixture.cache.entries().isEmpty)
        fixture.files.failNothing()
        #expect(await fixture.cache.entry(for: key)?.data == data)
    }

    @Test func timesThatCannotBeWrittenDoNotMatterToARead() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key, expiration: .seconds(1000))
        fixture.clock.advance(by: .seconds(500))
        fixture.files.failAlways(.setTimes, with: EROFS)
        #expect(await fixture.cache.entry(for: key)?.keptUntil == fixture.clock.now.addingTimeInterval(500))
    }

    @Test func aFailedStagedWriteOnlyCounts() async throws {
        let fixture = DiskFixture()
        fixture.files.failAlways(.open, with: ENOSPC)
        await fixture.cache.stage(data, for: key)
        await fixture.cache.flush()
        #expect(fixture.cache.statistics.failedWrites == 1)
        #expect(fixture.cache.statistics.stagedBytes == 0)
        #expect(fixture.allFiles().isEmpty)
        #expect(await fixture.cache.entry(for: key) == nil)
    }

    @Test func aFolderThatCannotBe() async throws {
        // Not even root makes folders there.
        let cache = DiskCache(folder: URL(filePath: "/proc/halcyon/cache"))
        await #expect(throws: DiskCacheError.self) { try await cache.store(data, for: key) }
        await cache.stage(data, for: key)
        await cache.flush()
        #expect(await cache.entry(for: key) == nil)
        #expect(await cache.size() == 0)
        #expect(await cache.removeAll().entries == 0)
        #expect(cache.statistics.failedWrites == 2)
    }

    @Test func aFileInTheFoldersPlace() async throws {
        let fixture = DiskFixture()
        try data.write(to: fixture.folder)
        await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(data, for: key) }
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(await fixture.cache.count() == 0)
        #expect(try Data(contentsOf: fixture.folder) == data)
    }

    @Test func aFolderThatMayOnlyBeRead() async throws {
        // Root may write everywhere; the injected EACCES above stands for this then.
        guard geteuid() != 0 else { return }
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        let fanOut = fixture.file(key).deletingLastPathComponent().path
        chmod(fanOut, 0o500)
        defer { chmod(fanOut, 0o700) }
        #expect(await fixture.cache.entry(for: key)?.data == data)
        await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(data, for: key) }
        await fixture.cache.removeAll()
        #expect(await fixture.cache.entry(for: key)?.data == data)
    }

    @Test func largerThanTheWholeCacheIsNotCached() async throws {
        let fixture = DiskFixture(sizeLimit: 1000)
        await #expect(throws: DiskCacheError.tooLarge) {
            try await fixture.cache.store(Data(count: 1000), for: key)
        }
        await fixture.cache.stage(Data(count: 1000), for: key)
        await fixture.cache.flush()
        #expect(fixture.allFiles().isEmpty)
        #expect(fixture.cache.statistics.lastWriteError == .tooLarge)
    }
}
