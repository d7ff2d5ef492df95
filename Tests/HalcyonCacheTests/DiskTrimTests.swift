import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite struct DiskTrimTests {
    /// Ten entries, a minute apart, of this many bytes a file.
    func fill(_ fixture: DiskFixture, count: Int = 10, expiration: StorageExpiration? = nil) async throws -> Int {
        for number in 0..<count {
            try await fixture.cache.store(Data(count: 500), for: DiskFixture.key(number), expiration: expiration)
            fixture.clock.advance(by: .seconds(60))
        }
        return try fixture.status(DiskFixture.key(count - 1)).size
    }

    func present(_ fixture: DiskFixture, _ numbers: Range<Int> = 0..<10) -> [Int] {
        numbers.filter { fixture.exists(DiskFixture.key($0)) }
    }

    @Test func leastRecentlyUsedEntriesAreTrimmedFirst() async throws {
        let fixture = DiskFixture()
        let size = try await fill(fixture)
        _ = await fixture.cache.entry(for: DiskFixture.key(0))
        _ = await fixture.cache.entry(for: DiskFixture.key(3))
        let removal = await fixture.cache.trim(to: size * 6)
        #expect(removal.entries == 4)
        #expect(removal.bytes == size * 4)
        #expect(present(fixture) == [0, 3, 6, 7, 8, 9])
        #expect(await fixture.cache.trim(to: size * 6).entries == 0)
        #expect(await fixture.cache.trim(to: size * 6 - 1).entries == 1)
        #expect(await fixture.cache.trim(to: 0).entries == 5)
    }

    @Test func expiredEntriesGoBeforeAllOthers() async throws {
        let fixture = DiskFixture()
        let size = try await fill(fixture)
        for number in 10..<13 {
            try await fixture.cache.store(
                Data(count: 500), for: DiskFixture.key(number), expiration: .seconds(30))
        }
        fixture.clock.advance(by: .seconds(31))
        let actual = try fixture.status(DiskFixture.key(10)).size
        #expect(await fixture.cache.trim(to: size * 10 + actual).entries == 2)
        #expect(present(fixture) == Array(0..<10))
        await fixture.cache.trim(to: size * 9)
        #expect(present(fixture, 0..<13) == Array(1..<10))
    }

    @Test func anAccessInTheFutureDoesNotKeepAnEntry() async throws {
        let fixture = DiskFixture()
        fixture.clock.advance(by: .seconds(86_400))
        try await fixture.cache.store(Data(count: 500), for: DiskFixture.key(99))
        fixture.clock.advance(by: .seconds(-86_400))
        let size = try await fill(fixture)
        await fixture.cache.trim(to: size * 10)
        #expect(!fixture.exists(DiskFixture.key(99)))
        #expect(present(fixture) == Array(0..<10))
    }

    @Test func sizesAddUp() async throws {
        let fixture = DiskFixture()
        #expect(fixture.cache.estimatedSize == 0)
        let size = try await fill(fixture)
        #expect(fixture.cache.estimatedSize == size * 10)
        #expect(await fixture.cache.size() == size * 10)
        #expect(await fixture.cache.count() == 10)
        try await fixture.cache.store(Data(count: 600), for: DiskFixture.key(0))
        #expect(fixture.cache.estimatedSize == size * 10 + 100)
        await fixture.cache.remove(DiskFixture.key(1))
        await fixture.cache.remove(DiskFixture.key(1))
        #expect(fixture.cache.estimatedSize == size * 9 + 100)
        #expect(try await fixture.cache.updateMetadata(Data(count: 7), for: DiskFixture.key(2)))
        #expect(fixture.cache.estimatedSize == size * 9 + 107)
        // Behind its back, until the next scan.
        try FileManager.default.removeItem(at: fixture.file(DiskFixture.key(3)))
        #expect(await fixture.cache.size() == size * 8 + 107)
        #expect(fixture.cache.estimatedSize == size * 8 + 107)
        let other = fixture.secondCache()
        #expect(other.estimatedSize == 0)
        await other.remove(DiskFixture.key(4))
        #expect(other.estimatedSize == 0)
        #expect(await other.size() == size * 7 + 107)
        #expect(other.estimatedSize == size * 7 + 107)
        #expect(await other.removeAll().entries == 7)
        #expect(other.estimatedSize == 0)
    }

    @Test func aFlushPastTheLimitStartsATrim() async throws {
        let fixture = DiskFixture(sizeLimit: 6000)
        let size = try await fill(fixture, count: 30)
        await fixture.cache.trimIfNeeded()
        #expect(fixture.cache.estimatedSize <= 6000)
        #expect(await fixture.cache.size() <= 6000)
        #expect(fixture.exists(DiskFixture.key(29)))
        #expect(!fixture.exists(DiskFixture.key(0)))
        // Down to four fifths and no further.
        #expect(await fixture.cache.size() > 4800 - size)
    }

    @Test func entriesOfEarlierRunsAreTrimmed() async throws {
        let fixture = DiskFixture(sizeLimit: 1 << 20)
        _ = try await fill(fixture, count: 20)
        let later = DiskCache(
            folder: fixture.folder, configuration: DiskCache.Configuration(sizeLimit: 5000),
            timeSource: fixture.clock.timeSource)
        await later.trimIfNeeded()
        // Nothing was written: nothing is looked at.
        #expect(later.estimatedSize == 0)
        await later.stage(Data(count: 500), for: DiskFixture.key(100))
        #expect(await later.shutdown(within: .seconds(300)))
        #expect(await later.size() <= 5000)
        #expect(fixture.exists(DiskFixture.key(100)))
    }

    /// Neither cache passes the limit by its own writes; together they do.
    @Test func otherProcessWritesAreCountedAfterFiveSeconds() async throws {
        let fixture = DiskFixture(sizeLimit: 7000)
        let other = fixture.secondCache()
        for (number, cache) in [fixture.cache, other].enumerated() {
            try await cache.store(Data(count: 500), for: DiskFixture.key(number))
            await cache.trimIfNeeded()
        }
        for number in 10..<18 {
            try await fixture.cache.store(Data(count: 500), for: DiskFixture.key(number))
            try await other.store(Data(count: 500), for: DiskFixture.key(number + 10))
        }
        fixture.clock.advance(by: .milliseconds(4900))
        try await fixture.cache.store(Data(count: 500), for: DiskFixture.key(30))
        await fixture.cache.trimIfNeeded()
        #expect(fixture.cache.estimatedSize <= 7000)
        #expect(StressFolder(fixture.folder).bytes > 7000)
        fixture.clock.advance(by: .milliseconds(100))
        try await fixture.cache.store(Data(count: 500), for: DiskFixture.key(31))
        await fixture.cache.trimIfNeeded()
        #expect(StressFolder(fixture.folder).bytes <= 7000)
        #expect(fixture.cache.estimatedSize == StressFolder(fixture.folder).bytes)
        #expect(fixture.exists(DiskFixture.key(31)))
        // The other one still believes in what it wrote; a clock turned back shows it, too.
        fixture.clock.advance(by: .seconds(-60))
        try await other.store(Data(count: 500), for: DiskFixture.key(32))
        await other.trimIfNeeded()
        #expect(other.estimatedSize == StressFolder(fixture.folder).bytes)
    }

    // MARK: A limit that changes

    @Test func aLowerLimitTrimsAtOnce() async throws {
        let fixture = DiskFixture()
        let size = try await fill(fixture)
        await fixture.cache.trimIfNeeded()
        let lists = fixture.files.calls(of: .list)
        // The same room, or more of it, is no reason to look.
        for limit in [1 << 20, 2 << 20] {
            fixture.cache.sizeLimit = limit
            await fixture.cache.trimIfNeeded()
            #expect(fixture.files.calls(of: .list) == lists)
        }
        fixture.cache.sizeLimit = size * 5
        #expect(fixture.cache.sizeLimit == size * 5)
        await fixture.cache.trimIfNeeded()
        #expect(fixture.cache.estimatedSize == size * 4)
        #expect(present(fixture) == Array(6..<10))
        // Writes keep to it.
        _ = try await fill(fixture, count: 20)
        await fixture.cache.trimIfNeeded()
        #expect(await fixture.cache.size() <= size * 5)
        await #expect(throws: DiskCacheError.tooLarge) {
            try await fixture.cache.store(Data(count: size * 5), for: DiskFixture.key(0))
        }
        fixture.cache.sizeLimit = 0
        await fixture.cache.trimIfNeeded()
        #expect(await fixture.cache.count() == 0)
    }

    /// The size of what earlier runs have left is not known yet.
    @Test func aLowerLimitTrimsBeforeAnyWrite() async throws {
        let fixture = DiskFixture(sizeLimit: nil)
        let size = try await fill(fixture)
        let later = fixture.secondCache()
        later.sizeLimit = size * 5
        await later.trimIfNeeded()
        #expect(present(fixture) == Array(6..<10))
        #expect(later.estimatedSize == size * 4)
        #expect(later.configuration.sizeLimit == nil)
    }

    @Test func aLimitMayBeLoweredDuringATrim() async throws {
        let fixture = DiskFixture()
        let size = try await fill(fixture)
        fixture.files.hold(.unlink)
        fixture.cache.sizeLimit = size * 9
        try await fixture.files.waitForHeld(.unlink)
        fixture.cache.sizeLimit = size * 5
        fixture.files.release(.unlink)
        await fixture.cache.trimIfNeeded()
        #expect(present(fixture) == Array(6..<10))
    }

    @Test func theStandardLimit() async throws {
        let fixture = DiskFixture(sizeLimit: nil)
        let free = try fixture.files.freeSpace(at: "/")
        #expect(fixture.cache.sizeLimit > 0)
        #expect(fixture.cache.sizeLimit <= 1 << 30)
        if free > 20 << 30 { #expect(fixture.cache.sizeLimit == 1 << 30) }
        fixture.files.failAlways(.freeSpace, with: EIO)
        #expect(fixture.cache.sizeLimit == 1 << 30)
        _ = await fixture.cache.size()
        #expect(fixture.cache.sizeLimit == 1 << 30)
    }

    @Test func anEntryMayFillTheCache() async throws {
        let (key, data) = (DiskFixture.key(0), Data(count: 500))
        let measured = DiskFixture()
        try await measured.cache.store(data, for: key)
        let size = try measured.status(key).size
        let full = DiskFixture(sizeLimit: size)
        try await full.cache.store(data, for: key)
        await full.cache.trimIfNeeded()
        #expect(await full.cache.entry(for: key)?.data == data)
        let small = DiskFixture(sizeLimit: size - 1)
        await #expect(throws: DiskCacheError.tooLarge) { try await small.cache.store(data, for: key) }
        #expect(!small.exists(key))
    }

    @Test func readersGoOnDuringATrim() async throws {
        let fixture = DiskFixture()
        let size = try await fill(fixture, count: 200)
        async let trimmed = fixture.cache.trim(to: size * 20)
        for number in 0..<200 {
            let found = await fixture.cache.entry(for: DiskFixture.key(number))
            #expect(found == nil || found?.data == Data(count: 500))
        }
        _ = await trimmed
        #expect(fixture.cache.statistics.damaged == 0)
    }

    @Test func entryReadDuringTrimIsKept() async throws {
        let fixture = DiskFixture(threads: 1)
        let size = try await fill(fixture)
        let key = DiskFixture.key(0)
        fixture.files.hold(.unlink)
        // The first slice holds all ten: entry 0 is the first to go and waits, entry 1 is read meanwhile.
        async let trimmed = fixture.cache.trim(to: size * 8)
        try await fixture.files.waitForHeld(.unlink)
        fixture.clock.advance(by: .seconds(120))
        let read = Task.detached { fixture.secondCache().entrySynchronously(for: DiskFixture.key(1)) }
        #expect(await read.value != nil)
        fixture.files.release(.unlink)
        #expect(await trimmed.entries == 1)
        #expect(!fixture.exists(key))
        #expect(fixture.exists(DiskFixture.key(1)))
    }
}
