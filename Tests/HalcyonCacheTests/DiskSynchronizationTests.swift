import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite(.timeLimit(.minutes(5))) struct DiskSynchronizationTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    @Test func nothingIsSyncedByDefault() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        #expect(fixture.files.calls(of: .synchronize) == 0)
        #expect(fixture.files.calls(of: .synchronizeFolder) == 0)
    }

    @Test func bytesAreSyncedBeforeTheyHaveAName() async throws {
        let fixture = DiskFixture { $0.synchronization = .data }
        fixture.files.hold(.synchronize)
        await fixture.cache.stage(data, for: key)
        try await fixture.files.waitForHeld(.synchronize)
        #expect(fixture.files.calls(of: .write) >= 2)
        #expect(!fixture.exists(key))
        fixture.files.release(.synchronize)
        await fixture.cache.flush()
        #expect(fixture.exists(key))
        #expect(fixture.files.calls(of: .synchronizeFolder) == 0)
    }

    @Test func theNameIsSyncedToo() async throws {
        let fixture = DiskFixture { $0.synchronization = .full }
        try await fixture.cache.store(data, for: key)
        // The folders that had to be made for it, and the one that has the file.
        let folders = fixture.files.calls(of: .synchronizeFolder)
        #expect(folders >= 3)
        fixture.files.hold(.synchronizeFolder)
        await fixture.cache.stage(Data([2]), for: key)
        try await fixture.files.waitForHeld(.synchronizeFolder)
        #expect(try Data(contentsOf: fixture.file(key)).first == 2)
        #expect(fixture.files.calls(of: .synchronize) == 2)
        // Nobody has to wait for that to read or to remove others.
        let other = DiskFixture.key(7)
        fixture.cache.removeSynchronously(other)
        fixture.files.release(.synchronizeFolder)
        await fixture.cache.flush()
        #expect(fixture.files.calls(of: .synchronizeFolder) == folders + 1)
        #expect(await fixture.cache.entry(for: key)?.data == Data([2]))
    }

    @Test(arguments: [FileOperation.synchronize, .synchronizeFolder], [true, false])
    func aSyncThatFailsIsAWriteThatFailed(operation: FileOperation, isStaged: Bool) async throws {
        let fixture = DiskFixture { $0.synchronization = .full }
        try await fixture.cache.store(data, for: key)
        fixture.files.failAlways(operation, with: EIO)
        if isStaged {
            await fixture.cache.stage(Data([2]), for: key)
            await fixture.cache.flush()
        } else {
            await #expect(throws: DiskCacheError.self) { try await fixture.cache.store(Data([2]), for: key) }
        }
        #expect(fixture.cache.statistics.failedWrites == 1)
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
        #expect(fixture.cache.estimatedSize == 0)
        fixture.files.failNothing()
        #expect(await fixture.cache.entry(for: key) == nil)
        try await fixture.cache.store(data, for: key)
        #expect(await fixture.cache.entry(for: key)?.data == data)
    }

    @Test func anUpdateThatCannotBeSyncedLeavesTheEntry() async throws {
        let fixture = DiskFixture { $0.synchronization = .data }
        try await fixture.cache.store(data, metadata: Data([1]), for: key)
        fixture.files.failAlways(.synchronize, with: EIO)
        await #expect(throws: DiskCacheError.self) { try await fixture.cache.updateMetadata(Data([2]), for: key) }
        #expect(await fixture.cache.entry(for: key)?.metadata == Data([1]))
    }
}
