import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite struct DiskExpirationTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    @Test func anEntryIsKeptSevenDaysByDefault() async throws {
        let configuration = DiskCache.Configuration()
        #expect(configuration.expiration == .days(7))
        #expect(configuration.accessExtension == .cacheTime)
        #expect(configuration.sweepInterval == .seconds(1800))
        let clock = ManualClock()
        let folder = URL.temporaryDirectory.appending(path: "halcyon-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = DiskCache(folder: folder, configuration: configuration, timeSource: clock.timeSource)
        try await cache.store(data, for: key)
        #expect(await cache.entry(for: key)?.keptUntil == clock.now.addingTimeInterval(7 * 86_400))
    }

    @Test func pastItsTimeAnEntryIsAMiss() async throws {
        let fixture = DiskFixture(accessExtension: .none)
        try await fixture.cache.store(data, for: key, expiration: .seconds(100))
        fixture.clock.advance(by: .milliseconds(99_900))
        #expect(await fixture.cache.contains(key))
        #expect(await fixture.cache.entry(for: key) != nil)
        fixture.clock.advance(by: .milliseconds(100))
        #expect(await !fixture.cache.contains(key))
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(fixture.exists(key))
        let removal = await fixture.cache.removeExpired()
        #expect(removal.entries == 1)
        #expect(!fixture.exists(key))
    }

    @Test func anAccessExtendsAndContainsDoesNot() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key, expiration: .seconds(1000))
        fixture.clock.advance(by: .seconds(900))
        #expect(await fixture.cache.contains(key))
        #expect(try fixture.status(key).modified == FileTime(fixture.clock.now.addingTimeInterval(100)))
        #expect(await fixture.cache.entry(for: key)?.keptUntil == fixture.clock.now.addingTimeInterval(1000))
        #expect(try fixture.status(key).modified == FileTime(fixture.clock.now.addingTimeInterval(1000)))
        #expect(try fixture.status(key).accessed == FileTime(fixture.clock.now))
        fixture.clock.advance(by: .seconds(999))
        #expect(await fixture.cache.entry(for: key) != nil)
        fixture.clock.advance(by: .seconds(1000))
        #expect(await fixture.cache.entry(for: key) == nil)
    }

    @Test func expirationAndExtensionCanBeChanged() async throws {
        let fixture = DiskFixture(expiration: .seconds(1000))
        func kept(_ number: Int) throws -> Date { try fixture.status(DiskFixture.key(number)).modified.date }
        try await fixture.cache.store(data, for: DiskFixture.key(0))
        let start = fixture.clock.now
        fixture.cache.expiration = .seconds(5000)
        #expect(fixture.cache.expiration == .seconds(5000))
        try await fixture.cache.store(data, for: DiskFixture.key(1))
        await fixture.cache.stage(data, for: DiskFixture.key(2))
        await fixture.cache.flush()
        #expect(try (0..<3).map(kept) == [1000, 5000, 5000].map { start.addingTimeInterval($0) })
        fixture.cache.accessExtension = .none
        #expect(fixture.cache.accessExtension == ExpirationExtension.none)
        fixture.clock.advance(by: .seconds(100))
        #expect(await fixture.cache.entry(for: DiskFixture.key(0)) != nil)
        #expect(fixture.cache.entrySynchronously(for: DiskFixture.key(1)) != nil)
        #expect(try (0..<2).map(kept) == [1000, 5000].map { start.addingTimeInterval($0) })
        fixture.cache.accessExtension = .expirationTime(.seconds(9000))
        fixture.clock.advance(by: .seconds(100))
        #expect(await fixture.cache.entry(for: DiskFixture.key(0)) != nil)
        #expect(fixture.cache.entrySynchronously(for: DiskFixture.key(1)) != nil)
        #expect(try (0..<2).map(kept) == [9200, 9200].map { start.addingTimeInterval($0) })
    }

    @Test func timesAreWrittenOnceAMinute() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        let writes = fixture.files.calls(of: .setTimes)
        for _ in 0..<119 {
            fixture.clock.advance(by: .seconds(1))
            #expect(await fixture.cache.entry(for: key) != nil)
        }
        #expect(fixture.files.calls(of: .setTimes) == writes + 1)
    }

    @Test func otherExtensions() async throws {
        let none = DiskFixture(accessExtension: .none)
        try await none.cache.store(data, for: key, expiration: .seconds(1000))
        none.clock.advance(by: .seconds(900))
        #expect(await none.cache.entry(for: key) != nil)
        // The access is noted all the same, for trimming.
        #expect(try none.status(key).accessed == FileTime(none.clock.now))
        none.clock.advance(by: .seconds(100))
        #expect(await none.cache.entry(for: key) == nil)

        let fixed = DiskFixture(accessExtension: .expirationTime(.seconds(5000)))
        try await fixed.cache.store(data, for: key, expiration: .seconds(1000))
        fixed.clock.advance(by: .seconds(100))
        #expect(await fixed.cache.entry(for: key)?.keptUntil == fixed.clock.now.addingTimeInterval(5000))

        let shorter = DiskFixture(accessExtension: .expirationTime(.seconds(1)))
        try await shorter.cache.store(data, for: key, expiration: .seconds(1000))
        shorter.clock.advance(by: .seconds(100))
        #expect(await shorter.cache.entry(for: key) != nil)
        shorter.clock.advance(by: .seconds(899))
        #expect(await shorter.cache.entry(for: key) != nil)
    }

    @Test func expiredEntriesAreNotWritten() async throws {
        let fixture = DiskFixture()
        let past = fixture.clock.now.addingTimeInterval(-1)
        for expiration: StorageExpiration in [.expired, .seconds(0), .seconds(-5), .days(0), .date(past)] {
            try await fixture.cache.store(data, for: key, expiration: expiration)
            try fixture.cache.storeSynchronously(data, for: key, expiration: expiration)
            #expect(await !fixture.cache.stage(data, for: key, expiration: expiration))
            #expect(!fixture.cache.stageIfRoom(data, for: key, expiration: expiration))
        }
        await fixture.cache.flush()
        #expect(fixture.allFiles().isEmpty)
        #expect(fixture.cache.statistics.writes == 0)
    }

    @Test func entriesWithoutExpirationNeverExpire() async throws {
        let fixture = DiskFixture()
        for (number, expiration) in [StorageExpiration.never, .seconds(.infinity), .date(.distantFuture)].enumerated() {
            try await fixture.cache.store(data, for: DiskFixture.key(number), expiration: expiration)
        }
        fixture.clock.advance(by: .seconds(50 * 365 * 86_400))
        await fixture.cache.removeExpired()
        for number in 0..<3 {
            let entry = await fixture.cache.entry(for: DiskFixture.key(number))
            #expect(entry?.data == data)
            #expect(entry?.keptUntil == nil)
        }
    }

    @Test func datesAreKept() async throws {
        let fixture = DiskFixture(accessExtension: .none)
        let end = fixture.clock.now.addingTimeInterval(77.25)
        try await fixture.cache.store(data, for: key, expiration: .date(end))
        #expect(await fixture.cache.entry(for: key)?.keptUntil == end)
    }
}
