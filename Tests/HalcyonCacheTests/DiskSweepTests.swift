import Foundation
import HalcyonTesting
import Testing

@testable import HalcyonCache

@Suite(.timeLimit(.minutes(5))) struct DiskSweepTests {
    let key = DiskFixture.key
    let data = DiskFixture.data

    func fixture(sizeLimit: Int = 1 << 20) -> DiskFixture {
        DiskFixture(sizeLimit: sizeLimit, accessExtension: .none) { $0.sweepInterval = .seconds(600) }
    }

    @Test func sweepingRepeats() async throws {
        let fixture = fixture()
        var events = fixture.cache.removals.makeAsyncIterator()
        try await fixture.cache.store(data, for: key, expiration: .seconds(30))
        try await fixture.clock.waitForSleepers()
        fixture.clock.advance(by: .seconds(59))
        #expect(fixture.exists(key))
        fixture.clock.advance(by: .seconds(1))
        let first = try #require(await events.next())
        #expect(first.reason == .expired)
        #expect(first.fileNames == [key.fileName])
        #expect(first.bytes > data.count)
        #expect(first.number == 1)
        #expect(!fixture.exists(key))
        for turn in 2...4 {
            try await fixture.cache.store(data, for: key, expiration: .seconds(30))
            try await fixture.clock.waitForSleepers()
            fixture.clock.advance(by: .seconds(600))
            let event = try #require(await events.next())
            #expect(event.number == turn)
            #expect(event.fileNames == [key.fileName])
        }
    }

    /// Another program has written them, which has ended.
    @Test(arguments: [false, true]) func aProgramThatOnlyReadsSweeps(isSynchronous: Bool) async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key, expiration: .seconds(30))
        let reader = DiskCache(
            folder: fixture.folder, configuration: DiskCache.Configuration(sweepInterval: .seconds(600)),
            timeSource: fixture.clock.timeSource)
        var events = reader.removals.makeAsyncIterator()
        let other = DiskFixture.key(1)
        #expect((isSynchronous ? reader.entrySynchronously(for: other) : await reader.entry(for: other)) == nil)
        try await fixture.clock.waitForSleepers()
        fixture.clock.advance(by: .seconds(60))
        #expect(await events.next()?.fileNames == [key.fileName])
        #expect(!fixture.exists(key))
    }

    @Test func aHitBeginsTheSweepsToo() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key)
        let reader = DiskCache(folder: fixture.folder, timeSource: fixture.clock.timeSource)
        #expect(await reader.entry(for: key) != nil)
        #expect(reader.state.withLock { $0.sweeping != nil })
    }

    @Test func nothingIsSweptBeforeTheFirstUse() async throws {
        let fixture = fixture()
        #expect(await !fixture.cache.contains(key))
        #expect(await fixture.cache.shutdown(within: .seconds(300)))
        #expect(fixture.cache.state.withLock { $0.sweeping == nil })
        #expect(fixture.files.calls(of: .list) == 0)
        let none = DiskFixture()
        try await none.cache.store(data, for: key)
        _ = await none.cache.entry(for: key)
        #expect(none.cache.state.withLock { $0.sweeping == nil })
    }

    // MARK: The end

    @Test func expiredEntriesGoAtTheEnd() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key, expiration: .seconds(30))
        await fixture.cache.trimIfNeeded()
        _ = await fixture.cache.entry(for: key)
        fixture.clock.advance(by: .seconds(31))
        // Without an interval the program sweeps by itself.
        #expect(await fixture.cache.shutdown(within: .seconds(300)))
        #expect(fixture.exists(key))
        fixture.cache.sweepInterval = .seconds(600)
        #expect(await fixture.cache.shutdown(within: .seconds(300)))
        #expect(!fixture.exists(key))
    }

    /// A short program that is run again and again must not scan the folder each time.
    @Test func aFolderIsSweptOnceInAnIntervalAtTheEnd() async throws {
        let fixture = DiskFixture(accessExtension: .none)
        /// Reads, as a program of its own, and ends.
        func run() async throws {
            weak var ended: DiskCache?
            do {
                let cache = DiskCache(
                    folder: fixture.folder,
                    configuration: DiskCache.Configuration(accessExtension: .none, sweepInterval: .seconds(600)),
                    fileSystem: fixture.files, timeSource: fixture.clock.timeSource)
                ended = cache
                _ = await cache.entry(for: key)
                #expect(await cache.shutdown(within: .seconds(300)))
            }
            // The first sweep of one that is still there would be counted.
            while ended != nil { await Task.yield() }
        }
        try await fixture.cache.store(data, for: key, expiration: .seconds(700))
        await fixture.cache.trimIfNeeded()
        try await run()
        var lists = fixture.files.calls(of: .list)
        fixture.clock.advance(by: .seconds(599))
        try await run()
        try await run()
        #expect(fixture.files.calls(of: .list) == lists)
        fixture.clock.advance(by: .seconds(101))
        try await run()
        #expect(fixture.files.calls(of: .list) > lists)
        #expect(!fixture.exists(key))
        // A clock that was turned back does not put it off.
        lists = fixture.files.calls(of: .list)
        fixture.clock.advance(by: .seconds(-86_400))
        try await run()
        #expect(fixture.files.calls(of: .list) > lists)
        // Nor does a tag that is missing.
        lists = fixture.files.calls(of: .list)
        try FileManager.default.removeItem(at: fixture.folder.appending(path: "CACHEDIR.TAG"))
        try await run()
        #expect(fixture.files.calls(of: .list) > lists)
    }

    @Test func aFolderThatIsNotThereIsNotSwept() async throws {
        let fixture = fixture()
        #expect(await fixture.cache.entry(for: key) == nil)
        #expect(await fixture.cache.shutdown(within: .seconds(300)))
        #expect(fixture.files.calls(of: .list) == 0)
    }

    /// All is written by then: only the time for the sweep is over.
    @Test func aSweepThatTheTimeEndsIsNoFailure() async throws {
        let fixture = fixture()
        try await fixture.cache.store(data, for: key, expiration: .seconds(30))
        await fixture.cache.trimIfNeeded()
        fixture.clock.advance(by: .seconds(31))
        fixture.files.hold(.unlink)
        async let isDone = fixture.cache.shutdown(within: .seconds(2))
        try await fixture.files.waitForHeld(.unlink)
        #expect(await isDone)
        fixture.files.release(.unlink)
    }

    // MARK: An interval that changes

    /// Stores an entry and waits for its end by a sweep, a while after.
    private func expectSweep(_ fixture: DiskFixture, after time: Duration, number: Int) async throws {
        var events = fixture.cache.removals.makeAsyncIterator()
        try await fixture.cache.store(data, for: key, expiration: .seconds(1))
        try await fixture.clock.waitForSleepers()
        fixture.clock.advance(by: time)
        let event = try #require(await events.next())
        #expect(event.reason == .expired)
        #expect(event.number == number)
    }

    @Test func aNewIntervalBeginsAtOnce() async throws {
        let fixture = fixture()
        try await expectSweep(fixture, after: .seconds(60), number: 1)
        try await fixture.clock.waitForSleepers()
        fixture.cache.sweepInterval = .seconds(5)
        #expect(fixture.cache.sweepInterval == .seconds(5))
        try await expectSweep(fixture, after: .seconds(5), number: 2)
        fixture.cache.sweepInterval = nil
        #expect(fixture.cache.state.withLock { $0.sweeping == nil })
        try await fixture.cache.store(data, for: key)
        #expect(fixture.cache.state.withLock { $0.sweeping == nil })
        fixture.cache.sweepInterval = .seconds(7)
        try await expectSweep(fixture, after: .seconds(7), number: 3)
    }

    @Test func aNewIntervalOutlastsTheFirstSweep() async throws {
        let fixture = fixture()
        try await fixture.cache.store(data, for: key)
        try await fixture.clock.waitForSleepers()
        fixture.cache.sweepInterval = .seconds(90)
        // The first sweep stays a minute after the first write.
        try await expectSweep(fixture, after: .seconds(60), number: 1)
        try await expectSweep(fixture, after: .seconds(90), number: 2)
        try await expectSweep(fixture, after: .seconds(90), number: 3)
    }

    @Test func aCacheMadeWithoutIntervalBeginsToSweep() async throws {
        let fixture = DiskFixture()
        fixture.cache.sweepInterval = .seconds(5)
        #expect(fixture.cache.state.withLock { $0.sweeping == nil })
        fixture.cache.sweepInterval = nil
        try await fixture.cache.store(data, for: key)
        fixture.cache.sweepInterval = .seconds(5)
        try await expectSweep(fixture, after: .seconds(5), number: 1)
    }

    // MARK: The sweep itself

    /// The stream ends with the cache, which a sweep that waits must not keep.
    @Test func sweepingDoesNotKeepTheCache() async throws {
        let clock = ManualClock()
        let folder = DiskFixture().folder
        func use() async throws -> AsyncStream<DiskCache.RemovalEvent> {
            let cache = DiskCache(folder: folder, timeSource: clock.timeSource)
            try await cache.store(data, for: key)
            await cache.trimIfNeeded()
            try await clock.waitForSleepers()
            return cache.removals
        }
        let events = try await use()
        for await event in events { Issue.record("\(event)") }
        try FileManager.default.removeItem(at: folder)
    }

    @Test func sweepRemovesExpiredEntriesThenTrims() async throws {
        let fixture = DiskFixture()
        for number in 0..<20 {
            try await fixture.cache.store(
                Data(count: 500), for: DiskFixture.key(number), expiration: number % 2 == 0 ? .seconds(3600) : .days(2))
            fixture.clock.advance(by: .seconds(60))
        }
        let half = DiskFixture.key(0)
        let leftover = fixture.file(half).deletingLastPathComponent().appending(path: ".halcyon-0123456789abcdef")
        try Data([1]).write(to: leftover)
        // Files carry the system's own time of change.
        fixture.clock.now = Date().addingTimeInterval(7200)
        for number in 0..<20 where number % 2 == 1 {
            try await fixture.cache.store(Data(count: 500), for: DiskFixture.key(number))
            fixture.clock.advance(by: .seconds(60))
        }
        let size = try fixture.status(DiskFixture.key(1)).size
        let limited = DiskCache(
            folder: fixture.folder,
            configuration: DiskCache.Configuration(sizeLimit: size * 5 + 20, sweepInterval: nil),
            timeSource: fixture.clock.timeSource)
        var events = limited.removals.makeAsyncIterator()
        let removal = await limited.sweep()
        #expect(removal.entries == 16)
        #expect(removal.bytes >= size * 16 - 16)
        #expect(!FileManager.default.fileExists(atPath: leftover.path))
        #expect((0..<20).filter { fixture.exists(DiskFixture.key($0)) } == [13, 15, 17, 19])
        let expired = try #require(await events.next())
        #expect(expired.reason == .expired)
        #expect(Set(expired.fileNames) == Set(stride(from: 0, to: 20, by: 2).map { DiskFixture.key($0).fileName }))
        let trimmed = try #require(await events.next())
        #expect(trimmed.reason == .trimmed)
        #expect(trimmed.fileNames == [1, 3, 5, 7, 9, 11].map { DiskFixture.key($0).fileName })
        #expect(await limited.sweep().entries == 0)
    }

    @Test func removalReasonsReachAllReaders() async throws {
        let fixture = DiskFixture()
        var readers = [fixture.cache.removals.makeAsyncIterator(), fixture.cache.removals.makeAsyncIterator()]
        // One that is not read, and one that has gone.
        let idle = fixture.cache.removals
        _ = fixture.cache.removals
        try fixture.write(data, as: key)
        try fixture.write(Data(count: 200), as: key)
        #expect(await fixture.cache.entry(for: key) == nil)
        try await fixture.cache.store(data, for: key)
        await fixture.cache.remove(key)
        try await fixture.cache.store(data, for: key)
        await fixture.cache.removeAll()
        for index in readers.indices {
            let damaged = await readers[index].next()
            #expect(damaged?.reason == .damaged)
            #expect(damaged?.bytes == 200)
            let all = await readers[index].next()
            #expect(all?.reason == .removedAll)
            #expect(all?.fileNames == [key.fileName])
        }
        withExtendedLifetime(idle) {}
    }

    @Test func aSlowReaderGetsTheNewest() async throws {
        let fixture = DiskFixture()
        let events = fixture.cache.removals
        for number in 1...200 {
            try fixture.write(Data(count: number), as: key)
            #expect(fixture.cache.entrySynchronously(for: key) == nil)
        }
        var iterator = events.makeAsyncIterator()
        for number in 137...200 {
            let event = await iterator.next()
            #expect(event?.number == number)
            #expect(event?.bytes == number)
        }
    }

    /// Another process writes too: this one looks again after it has written a good part, but not all the time.
    @Test func writesOfOtherCachesCountTowardsLimit() async throws {
        let fixture = DiskFixture(sizeLimit: 100_000)
        let other = fixture.secondCache()
        try await fixture.cache.store(Data(count: 20_000), for: DiskFixture.key(0))
        await fixture.cache.trimIfNeeded()
        for number in 1...3 {
            fixture.clock.advance(by: .milliseconds(10))
            try await other.store(Data(count: 20_000), for: DiskFixture.key(number))
            await other.trimIfNeeded()
        }
        try await fixture.cache.store(Data(count: 25_000), for: DiskFixture.key(5))
        await fixture.cache.trimIfNeeded()
        #expect(try fixture.allFiles().reduce(0) { try $0 + fixture.size(of: $1) } > 100_000)
        let lists = fixture.files.calls(of: .list)
        fixture.clock.advance(by: .seconds(5))
        try await fixture.cache.store(Data([1]), for: DiskFixture.key(6))
        await fixture.cache.trimIfNeeded()
        #expect(fixture.files.calls(of: .list) > lists)
        #expect(try fixture.allFiles().reduce(0) { try $0 + fixture.size(of: $1) } <= 100_000)
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .nanoseconds(1), .seconds(Int64.max / 2)])
    func anyIntervalIsTaken(interval: Duration) async throws {
        let fixture = DiskFixture { $0.sweepInterval = interval }
        try await fixture.cache.store(data, for: key)
        try await fixture.clock.waitForSleepers()
        fixture.clock.advance(by: .milliseconds(900))
        #expect(await fixture.cache.entry(for: key)?.data == data)
    }

    // MARK: The time of one access

    @Test func readExtendsExpirationByItsOwnArgument() async throws {
        let fixture = DiskFixture()
        func kept() throws -> FileTime { try fixture.status(key).modified }
        try await fixture.cache.store(data, for: key, expiration: .seconds(1000))
        let first = try kept()
        fixture.clock.advance(by: .seconds(500))
        #expect(await fixture.cache.entry(for: key, extending: ExpirationExtension.none)?.data == data)
        #expect(fixture.cache.entrySynchronously(for: key, extending: ExpirationExtension.none)?.data == data)
        #expect(try kept() == first)
        #expect(await fixture.cache.entry(for: key, extending: .expirationTime(.seconds(5000))) != nil)
        #expect(try kept() == FileTime(fixture.clock.now.addingTimeInterval(5000)))
        fixture.clock.advance(by: .seconds(100))
        #expect(fixture.cache.entrySynchronously(for: key, extending: .expirationTime(.seconds(9000))) != nil)
        #expect(try kept() == FileTime(fixture.clock.now.addingTimeInterval(9000)))
        let none = DiskFixture(accessExtension: .none)
        try await none.cache.store(data, for: key, expiration: .seconds(1000))
        none.clock.advance(by: .seconds(500))
        #expect(await none.cache.entry(for: key, extending: .cacheTime) != nil)
        #expect(try none.status(key).modified == FileTime(none.clock.now.addingTimeInterval(1000)))
    }

    @Test func containsIsOneCall() async throws {
        let fixture = DiskFixture()
        try await fixture.cache.store(data, for: key, expiration: .seconds(100))
        await fixture.cache.trimIfNeeded()
        func calls() -> [Int] { FileOperation.allCases.map { fixture.files.calls(of: $0) } }
        var expected = calls()
        #expect(await fixture.cache.contains(key))
        #expect(await !fixture.cache.contains(DiskFixture.key(3)))
        fixture.clock.advance(by: .seconds(100))
        #expect(!fixture.cache.containsSynchronously(key))
        for (index, operation) in FileOperation.allCases.enumerated() where operation == .status {
            expected[index] += 3
        }
        #expect(calls() == expected)
    }
}
