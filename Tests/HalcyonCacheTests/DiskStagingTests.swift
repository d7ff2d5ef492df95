import Foundation
import HalcyonSystem
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite struct DiskStagingTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    /// Some changes find the entry staged, others on the disk.
    @Test func changesOfOneEntryLoseNoneOfEachOther() async throws {
        let fixture = DiskFixture()
        await withTaskGroup { group in
            for number in UInt8(0)..<64 {
                group.addTask {
                    await fixture.cache.changeMetadata(for: key, expiration: .never) { ($0 ?? Data()) + [number] }
                }
                if number.isMultiple(of: 8) { group.addTask { await fixture.cache.flush() } }
            }
        }
        await fixture.cache.changeMetadata(for: key, expiration: .never) { _ in nil }
        await fixture.cache.flush()
        let metadata = try #require(await fixture.secondCache().entry(for: key)?.metadata)
        #expect(metadata.sorted() == Array(0..<64))
    }

    @Test func stagedEntryIsReadableBeforeItIsWritten() async throws {
        let fixture = DiskFixture()
        fixture.files.hold(.write)
        #expect(await fixture.cache.stage(data, metadata: Data([1]), extended: Data([2]), for: key))
        #expect(!fixture.exists(key))
        let staged = try #require(await fixture.cache.entry(for: key))
        #expect(staged.data == data)
        #expect(await fixture.cache.contains(key))
        #expect(fixture.cache.statistics.stagedBytes == data.count + 2 + key.bytes.count + 68)
        try await fixture.files.waitForHeld(.write)
        // Taken up, but not yet written.
        #expect(fixture.cache.entrySynchronously(for: key) == staged)
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(fixture.cache.statistics.stagedBytes == 0)
        #expect(await fixture.secondCache().entry(for: key) == staged)
        await fixture.cache.flush()
    }

    @Test func stagedEntriesExpire() async throws {
        let fixture = DiskFixture()
        fixture.files.hold(.write)
        await fixture.cache.stage(data, for: key, expiration: .seconds(10))
        fixture.clock.advance(by: .seconds(10))
        #expect(await !fixture.cache.contains(key))
        #expect(fixture.cache.entrySynchronously(for: key) == nil)
        fixture.files.release(.write)
        await fixture.cache.flush()
    }

    @Test func removeCancelsWhatIsStaged() async throws {
        let fixture = DiskFixture()
        fixture.files.hold(.write)
        let waiting = DiskFixture.key(2)
        await fixture.cache.stage(data, for: key)
        await fixture.cache.stage(data, for: waiting)
        try await fixture.files.waitForHeld(.write)
        fixture.cache.removeSynchronously(key)
        fixture.cache.removeSynchronously(waiting)
        #expect(fixture.cache.entrySynchronously(for: key) == nil)
        #expect(!fixture.cache.containsSynchronously(waiting))
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
        #expect(fixture.cache.statistics.writes == 0)
    }

    /// The newer entry waits in memory while the older one on the disk is removed: no read may find the older one again.
    @Test(arguments: [false, true]) func aRemoveShowsNothingOlder(isOfAll: Bool) async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(Data([1]), for: key)
        fixture.files.hold(.write)
        await fixture.cache.stage(data, for: key)
        try await fixture.files.waitForHeld(.write)
        fixture.files.hold(.unlink)
        let cache = fixture.cache
        let work = Task { [key] in
            if isOfAll { await cache.removeAll() } else { await cache.remove(key) }
        }
        try await fixture.files.waitForHeld(.unlink)
        #expect(cache.entrySynchronously(for: key).map { $0.data == data } ?? true)
        #expect(cache.containsSynchronously(key))
        fixture.files.release(.unlink)
        fixture.files.release(.write)
        await work.value
        #expect(cache.entrySynchronously(for: key) == nil)
        await cache.flush()
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
    }

    @Test func entryStagedAfterRemoveIsWritten() async throws {
        let fixture = DiskFixture()
        fixture.files.hold(.write)
        await fixture.cache.stage(data, for: key)
        try await fixture.files.waitForHeld(.write)
        fixture.cache.removeSynchronously(key)
        await fixture.cache.stage(Data([2]), for: key)
        #expect(fixture.cache.entrySynchronously(for: key)?.data == Data([2]))
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(await fixture.secondCache().entry(for: key)?.data == Data([2]))
    }

    @Test func removeAllCancelsWhatIsStaged() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: DiskFixture.key(9))
        fixture.files.hold(.write)
        for number in 0..<5 { await fixture.cache.stage(data, for: DiskFixture.key(number)) }
        try await fixture.files.waitForHeld(.write)
        await fixture.cache.removeAll()
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(fixture.allFiles() == ["CACHEDIR.TAG"])
        #expect(fixture.cache.statistics.stagedBytes == 0)
    }

    @Test func lastStagedEntryOfKeyWins() async throws {
        let fixture = DiskFixture()
        fixture.files.hold(.write)
        for number in 0..<20 { await fixture.cache.stage(Data([UInt8(number)]), for: key) }
        #expect(fixture.cache.entrySynchronously(for: key)?.data == Data([19]))
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(await fixture.secondCache().entry(for: key)?.data == Data([19]))
        // An entry that was replaced while it waited was never written.
        #expect(fixture.cache.statistics.writes <= 2)
    }

    @Test func aStoreTakesThePlaceOfWhatIsStaged() async throws {
        let fixture = DiskFixture()
        await fixture.cache.stage(data, for: DiskFixture.key(1))
        await fixture.cache.flush()
        fixture.files.hold(.open)
        await fixture.cache.stage(data, for: DiskFixture.key(1))
        try await fixture.files.waitForHeld(.open)
        await fixture.cache.stage(data, for: key)
        fixture.files.release(.open)
        try fixture.cache.storeSynchronously(Data([2]), for: key)
        #expect(fixture.cache.entrySynchronously(for: key)?.data == Data([2]))
        await fixture.cache.flush()
        #expect(await fixture.secondCache().entry(for: key)?.data == Data([2]))
    }

    @Test func stagedMetadataIsReplaced() async throws {
        let fixture = DiskFixture()
        fixture.files.hold(.write)
        await fixture.cache.stage(data, metadata: Data([1]), for: key)
        #expect(try await fixture.cache.updateMetadata(Data([2]), for: key))
        #expect(fixture.cache.entrySynchronously(for: key)?.metadata == Data([2]))
        try await fixture.files.waitForHeld(.write)
        #expect(try await fixture.cache.updateMetadata(Data([3]), for: key, expiration: .seconds(50)))
        fixture.files.release(.write)
        await fixture.cache.flush()
        let entry = await fixture.secondCache().entry(for: key)
        #expect(entry?.data == data)
        #expect(entry?.metadata == Data([3]))
        #expect(entry?.keptUntil == fixture.clock.now.addingTimeInterval(50))
    }

    // MARK: The bound

    @Test func writerWaitsWhileStagingIsFull() async throws {
        let fixture = DiskFixture(stagingLimit: 1000)
        fixture.files.hold(.write)
        #expect(await fixture.cache.stage(Data(count: 700), for: DiskFixture.key(1)))
        #expect(!fixture.cache.stageIfRoom(Data(count: 700), for: DiskFixture.key(2)))
        async let second = fixture.cache.stage(Data(count: 700), for: DiskFixture.key(2))
        async let third = fixture.cache.stage(Data(count: 700), for: DiskFixture.key(3))
        try await fixture.files.waitForHeld(.write)
        #expect(fixture.cache.statistics.stagedBytes < 1000)
        fixture.files.release(.write)
        #expect(await second)
        #expect(await third)
        await fixture.cache.flush()
        #expect(await fixture.cache.count() == 3)
    }

    @Test func writesOfExactlyTheLimitAreStaged() async throws {
        let first = DiskFixture()
        first.files.hold(.write)
        #expect(await first.cache.stage(Data(count: 700), for: DiskFixture.key(1)))
        let cost = first.cache.statistics.stagedBytes
        first.files.release(.write)
        await first.cache.flush()
        let fixture = DiskFixture(stagingLimit: 2 * cost)
        fixture.files.hold(.write)
        #expect(await fixture.cache.stage(Data(count: 700), for: DiskFixture.key(1)))
        #expect(fixture.cache.stageIfRoom(Data(count: 700), for: DiskFixture.key(2)))
        #expect(fixture.cache.statistics.stagedBytes == 2 * cost)
        #expect(!fixture.cache.stageIfRoom(Data(count: 1), for: DiskFixture.key(3)))
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(await fixture.cache.count() == 2)
    }

    @Test func entryAboveStagingLimitIsStagedAlone() async throws {
        let fixture = DiskFixture(stagingLimit: 100)
        for number in 0..<5 {
            #expect(await fixture.cache.stage(Data(count: 5000), for: DiskFixture.key(number)))
        }
        await fixture.cache.flush()
        #expect(await fixture.cache.count() == 5)
    }

    @Test func aCancelledWriterStagesNothing() async throws {
        let fixture = DiskFixture(stagingLimit: 100)
        fixture.files.hold(.write)
        await fixture.cache.stage(Data(count: 500), for: DiskFixture.key(1))
        let writer = Task { await fixture.cache.stage(Data(count: 500), for: DiskFixture.key(2)) }
        writer.cancel()
        #expect(await !writer.value)
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(await fixture.cache.count() == 1)
        #expect(fixture.cache.statistics.stagedBytes == 0)
    }

    @Test func manyWritersAndReaders() async throws {
        let fixture = DiskFixture(stagingLimit: 2000)
        await withTaskGroup { group in
            for writer in 0..<8 {
                group.addTask {
                    for number in 0..<30 {
                        let key = DiskFixture.key((writer + number) % 12)
                        let byte = UInt8((writer + number) % 12)
                        switch number % 6 {
                        case 0..<3: await fixture.cache.stage(Data(repeating: byte, count: 300), for: key)
                        case 3: try? await fixture.cache.store(Data(repeating: byte, count: 200), for: key)
                        case 4: await fixture.cache.remove(key)
                        default: await fixture.cache.flush()
                        }
                        let found = await fixture.cache.entry(for: key)?.data
                        #expect(found?.allSatisfy { $0 == byte } ?? true)
                    }
                }
            }
        }
        await fixture.cache.flush()
        #expect(fixture.cache.statistics.stagedBytes == 0)
        #expect(fixture.cache.statistics.failedWrites == 0)
        #expect(fixture.cache.statistics.damaged == 0)
        let size = await fixture.cache.size()
        #expect(fixture.cache.estimatedSize == size)
        #expect(fixture.allFiles().allSatisfy { !$0.contains(".halcyon-") })
    }

    // MARK: Reading at a priority

    @Test func aReadHasATicket() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        #expect(await fixture.cache.entry(for: key, ticket: WorkTicket(priority: .high))?.data == data)
        let cancelled = WorkTicket()
        cancelled.cancel()
        #expect(await fixture.cache.entry(for: key, ticket: cancelled) == nil)
        #expect(await fixture.cache.peek(key, ticket: cancelled) == nil)
    }

    @Test func aPeekLeavesNoTrace() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, metadata: Data([1]), for: key, expiration: .seconds(1000))
        fixture.clock.advance(by: .seconds(500))
        let before = try fixture.status(key)
        let statistics = fixture.cache.statistics
        let entry = try #require(await fixture.cache.peek(key))
        #expect(entry.data == data)
        #expect(entry.metadata == Data([1]))
        #expect(entry.keptUntil == fixture.clock.now.addingTimeInterval(500))
        #expect(try fixture.status(key) == before)
        #expect(fixture.cache.statistics == statistics)
        fixture.files.hold(.write)
        await fixture.cache.stage(Data([2]), for: key)
        #expect(await fixture.cache.peek(key)?.data == Data([2]))
        fixture.files.release(.write)
        await fixture.cache.flush()
        fixture.clock.advance(by: .seconds(8 * 86_400))
        #expect(await fixture.cache.peek(key) == nil)
    }

    // MARK: The end

    @Test func shutdownFlushesAndTrims() async throws {
        let fixture = DiskFixture(sizeLimit: 2000)
        for number in 0..<10 {
            fixture.clock.advance(by: .seconds(1))
            await fixture.cache.stage(Data(count: 400), for: DiskFixture.key(number))
        }
        #expect(await fixture.cache.shutdown(within: .seconds(300)))
        #expect(await fixture.cache.size() <= 2000)
        #expect(await fixture.cache.contains(DiskFixture.key(9)))
        #expect(fixture.cache.statistics.stagedBytes == 0)
    }

    @Test func shutdownIsBounded() async throws {
        let fixture = DiskFixture()
        fixture.files.hold(.write)
        await fixture.cache.stage(data, for: key)
        #expect(await !fixture.cache.shutdown(within: .milliseconds(5)))
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(fixture.exists(key))
    }

    @Test func aCancelledReadIsNilAndARemoveIsDone() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        let (cache, key) = (fixture.cache, key)
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await cache.entry(for: key)
        }
        #expect(await reader.value == nil)
        let writer = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await cache.store(Data(), for: key)
        }
        await #expect(throws: CancellationError.self) { try await writer.value }
        #expect(fixture.exists(key))
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await cache.remove(key)
        }.value
        #expect(!fixture.exists(key))
    }

    /// The older entry on the disk must not come back before the newer one takes its place.
    @Test func expiredStagedEntryHidesEntryOnDisk() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(Data([1]), for: key, expiration: .never)
        fixture.files.hold(.write)
        await fixture.cache.stage(Data([2]), for: key, expiration: .seconds(10))
        try await fixture.files.waitForHeld(.write)
        fixture.clock.advance(by: .seconds(11))
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(fixture.cache.entrySynchronously(for: key) == nil)
        #expect(await fixture.cache.peek(key) == nil)
        #expect(await !fixture.cache.contains(key))
        #expect(try await !fixture.cache.updateMetadata(Data([3]), for: key, expiration: .never))
        #expect(fixture.cache.statistics.misses == 2)
        fixture.files.release(.write)
        await fixture.cache.flush()
        #expect(await fixture.cache.entry(for: key) == nil)
    }
}
