import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite struct DiskFaultTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    /// Every call that a store makes fails once with every error: the store throws, and nothing is left behind, not even
    /// the entry that it was to replace.
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
        #expect(fixture.allFiles() == (before.isEmpty ? [] : ["CACHEDIR.TAG"]))
        fixture.files.failNothing()
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(fixture.cache.statistics.failedWrites == 1)
        #expect(fixture.cache.statistics.lastWriteError == error)
        try await fixture.cache.store(data, for: key)
        #expect(await fixture.cache.entry(for: key)?.data == data)
        #expect(await fixture.cache.size() == fixture.cache.estimatedSize)
    }

    @Test func aWriteThatFailsInTheMiddleLeavesNothing() async throws {
        let fixture = DiskFixture()
        fixture.files.shorten(writes: 5)
        for call in 1...20 {
            try await fixture.cache.store(Data([1]), for: key)
            fixture.files.fail(.write, call: call, with: ENOSPC)
            await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(data, for: key) }
            #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
            #expect(await fixture.cache.entry(for: key) == nil)
        }
    }

    /// A reader that was given newer bytes must not find older ones later.
    @Test(arguments: [false, true], [false, true])
    func failedWriteRemovesPreviousEntry(isStaged: Bool, isTooLarge: Bool) async throws {
        let fixture = DiskFixture(sizeLimit: 1000)
        try await fixture.cache.store(data, for: key)
        if !isTooLarge { fixture.files.failAlways(.write, with: ENOSPC) }
        let newer = Data(count: isTooLarge ? 1000 : 10)
        if isStaged {
            await fixture.cache.stage(newer, for: key)
            await fixture.cache.flush()
        } else {
            await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(newer, for: key) }
        }
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
        #expect(await fixture.secondCache().entry(for: key) == nil)
        #expect(fixture.cache.estimatedSize == 0)
    }

    @Test func aFailedWriteLeavesWhatCameMeanwhile() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        fixture.files.hold(.write)
        await fixture.cache.stage(Data([2]), for: key)
        try await fixture.files.waitForHeld(.write)
        try await fixture.secondCache().store(Data([3]), for: key)
        fixture.files.failAlways(.write, with: ENOSPC)
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(fixture.cache.statistics.failedWrites == 1)
        #expect(await fixture.cache.entry(for: key)?.data == Data([3]))
    }

    @Test func aFailedStoreDropsWhatWasStagedBefore() async throws {
        let fixture = DiskFixture(threads: 1)
        // Occupies the one thread, so that the staged write waits.
        fixture.files.hold(.list)
        fixture.cache.threads.submit { _ = fixture.cache.store.scan(0..<1, now: Date()) }
        try await fixture.files.waitForHeld(.list)
        #expect(await fixture.cache.stage(data, for: key))
        fixture.files.failAlways(.rename, with: EIO)
        #expect(throws: DiskCacheError.self) { try fixture.cache.storeSynchronously(Data([2]), for: key) }
        fixture.files.failNothing()
        #expect(fixture.cache.statistics.stagedBytes == 0)
        fixture.files.release(.list)
        await fixture.cache.flush()
        #expect(await fixture.cache.entry(for: key) == nil)
    }

    @Test func aFailedUpdateLeavesTheEntry() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, metadata: Data([1]), for: key)
        fixture.files.failAlways(.write, with: ENOSPC)
        await #expect(throws: DiskCacheError.self) { try await fixture.cache.updateMetadata(Data([2]), for: key) }
        let entry = await fixture.cache.entry(for: key)
        #expect(entry?.data == data)
        #expect(entry?.metadata == Data([1]))
    }

    /// As long as its file is open no other file can have its number.
    @Test func anUpdateKeepsTheFileItReadOpen() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        fixture.files.hold(.rename)
        let key = key
        // Not a task: this test blocks the thread that it might need.
        fixture.cache.threads.submit {
            _ = try? fixture.cache.store.update(key, metadata: Data([2]), expiration: nil, now: fixture.clock.now)
        }
        try await fixture.files.waitForHeld(.rename)
        let path = fixture.file(key).resolvingSymlinksInPath().path
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        #expect(open.contains(path))
        fixture.files.release(.rename)
    }

    /// Some file systems say that they have room without end.
    @Test func absurdFreeSpaceIsNoTrap() async throws {
        let fixture = DiskFixture(sizeLimit: nil)
        fixture.files.report(freeSpace: .max)
        try await fixture.cache.store(data, for: key)
        #expect(fixture.cache.sizeLimit == 1 << 30)
        #expect(await fixture.cache.size() > 0)
        #expect(fixture.cache.sizeLimit == 1 << 30)
        #expect(await fixture.cache.entry(for: key)?.data == data)
    }

    /// A file system of another kind may say that it has less than nothing.
    @Test func negativeFreeSpaceIsNone() {
        let fixture = DiskFixture(sizeLimit: nil)
        fixture.files.report(freeSpace: -1000)
        #expect(fixture.cache.sizeLimit == 0)
    }

    @Test func holdingTwiceIsHoldingOnce() async throws {
        let fixture = DiskFixture()
        fixture.files.hold(.write)
        await fixture.cache.stage(data, for: key)
        try await fixture.files.waitForHeld(.write)
        fixture.files.hold(.write)
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(fixture.exists(key))
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
        // Which needs the status alone.
        #expect(await fixture.cache.contains(key) == (operation != .status))
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

    @Test func storeFailsWhereFolderCannotBeCreated() async throws {
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

    @Test func entryLargerThanCacheIsNotCached() async throws {
        let fixture = DiskFixture(sizeLimit: 1000)
        await #expect(throws: DiskCacheError.tooLarge) {
            try await fixture.cache.store(Data(count: 1000), for: key)
        }
        await fixture.cache.stage(Data(count: 1000), for: key)
        await fixture.cache.flush()
        #expect(fixture.allFiles().isEmpty)
        #expect(fixture.cache.statistics.lastWriteError == .tooLarge)
    }

    @Test func anEntryMayFillTheCache() async throws {
        let first = DiskFixture(sizeLimit: nil)
        try await first.cache.store(Data(count: 1000), for: key)
        let size = await first.cache.size()
        try await DiskFixture(sizeLimit: size).cache.store(Data(count: 1000), for: key)
        let small = DiskFixture(sizeLimit: size - 1)
        await #expect(throws: DiskCacheError.tooLarge) { try await small.cache.store(Data(count: 1000), for: key) }
    }

    @Test func writesOfNothingEnd() async throws {
        let fixture = DiskFixture()
        fixture.files.shorten(writes: 0)
        await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(data, for: key) }
        fixture.files.shorten()
        try await fixture.cache.store(data, for: key)
        #expect(await fixture.cache.entry(for: key)?.data == data)
    }

    @Test func aFileThatCannotBeClosedIsAnError() {
        #expect(throws: SystemCallError(.close, code: EBADF)) { try PosixFileSystem().close(-1) }
    }
}
