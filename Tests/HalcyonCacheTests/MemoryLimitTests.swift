import Dispatch
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonCache

/// Limits that change while the cache is in use.
@Suite(.timeLimit(.minutes(5))) struct MemoryLimitTests {
    let clock = ManualClock()

    func cache(cost: Int = 1000, ttl: Duration? = .seconds(300)) -> MemoryCache<Int, String> {
        MemoryCache(
            configuration: MemoryCacheConfiguration(costLimit: cost, timeToLive: ttl, sweepInterval: nil),
            timeSource: clock.timeSource)
    }

    // MARK: Room

    @Test func aLowerCostLimitEvictsAtOnce() {
        let cache = cache()
        for key in 0..<10 { cache.insert("\(key)", for: key, cost: 100) }
        for key in 5..<10 { _ = cache.value(for: key) }
        cache.configuration.costLimit = 500
        #expect(cache.configuration.costLimit == 500)
        #expect(cache.statistics.cost == 500)
        #expect(cache.statistics.evictions == 5)
        #expect((0..<10).filter { cache.contains($0) } == Array(5..<10))
        cache.insert("10", for: 10, cost: 100)
        #expect(cache.statistics.cost == 500)
        #expect(cache.contents == (500, 5))
        // More room loses nothing, and is there at once.
        cache.configuration.costLimit = 2000
        for key in 20..<35 { cache.insert("\(key)", for: key, cost: 100) }
        #expect(cache.statistics.cost == 2000)
        cache.configuration.costLimit = -1
        #expect(cache.statistics.count == 0)
        #expect(!cache.insert("dear", for: 1, cost: 1))
        #expect(cache.insert("free", for: 1, cost: 0))
    }

    @Test func aLowerCountLimitEvictsAtOnce() {
        let cache = cache()
        for key in 0..<100 { cache.insert("\(key)", for: key, cost: 1) }
        cache.configuration.countLimit = 30
        #expect(cache.contents == (30, 30))
        #expect(cache.statistics.count == 30)
        for key in 100..<200 { cache.insert("\(key)", for: key, cost: 1) }
        #expect(cache.statistics.count == 30)
        cache.configuration.countLimit = 0
        #expect(cache.statistics.count == 0)
        #expect(!cache.insert("none", for: 1))
        cache.configuration.countLimit = nil
        for key in 0..<100 { #expect(cache.insert("\(key)", for: key)) }
        #expect(cache.statistics.count == 100)
    }

    @Test func theLimitOfOneEntryAppliesToLaterInserts() {
        let cache = cache()
        #expect(cache.insert("half", for: 1, cost: 500))
        cache.configuration.entryCostLimit = 100
        #expect(cache.contains(1))
        #expect(!cache.insert("more", for: 2, cost: 101))
        // A value that is too dear does not leave the key's former one in place.
        #expect(!cache.insert("more", for: 1, cost: 101))
        #expect(cache.statistics.count == 0)
        cache.configuration.entryCostLimit = nil
        #expect(cache.insert("half", for: 1, cost: 500))
        // Without one it is half of the cost that is now allowed.
        cache.configuration.costLimit = 4000
        #expect(cache.insert("half", for: 1, cost: 2000))
        #expect(!cache.insert("more", for: 1, cost: 2001))
    }

    /// A value that is in use elsewhere is still found; it only gets no slot.
    @Test func aWeakEntryAboveTheLimitStaysWeak() {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock)
        let kept = Picture("1")
        cache.insert(kept, for: 1, cost: 400)
        cache.configuration.costLimit = 100
        #expect(cache.statistics.count == 0)
        #expect(cache.value(for: 1)?.name == "1")
        #expect(cache.statistics.count == 0)
        #expect(cache.statistics.weakCount == 1)
        cache.configuration.costLimit = 1000
        #expect(cache.value(for: 1)?.name == "1")
        #expect(cache.contents == (400, 1))
        #expect(cache.statistics.weakCount == 0)
    }

    // MARK: Time

    @Test func aShorterTimeEndsOldEntries() {
        let cache = cache()
        cache.insert("old", for: 1, cost: 1)
        cache.insert("read", for: 2, cost: 1)
        cache.insert("own", for: 3, cost: 1, expiration: .seconds(200))
        clock.advance(by: .seconds(100))
        #expect(cache.value(for: 2) == "read")
        cache.insert("new", for: 4, cost: 1)
        cache.configuration.timeToLive = .seconds(50)
        #expect((1...4).map { cache.contains($0) } == [false, true, true, true])
        // It is gone, not only a miss, and was not evicted.
        #expect(cache.contents == (3, 3))
        #expect(cache.statistics.evictions == 0)
        clock.advance(by: .seconds(49))
        cache.insert("later", for: 5, cost: 1)
        #expect(cache.value(for: 2) == "read")
        clock.advance(by: .seconds(1))
        #expect((2...5).map { cache.contains($0) } == [true, true, false, true])
        clock.advance(by: .seconds(49))
        #expect((2...5).map { cache.contains($0) } == [false, true, false, false])
        clock.advance(by: .seconds(1))
        #expect(!cache.contains(3))
    }

    @Test func aLongerTimeExtends() {
        let cache = cache(ttl: .seconds(10))
        cache.insert("one", for: 1)
        cache.insert("own", for: 2, expiration: .seconds(20))
        clock.advance(by: .seconds(9))
        cache.configuration.timeToLive = .seconds(100)
        clock.advance(by: .seconds(90))
        #expect((1...2).map { cache.contains($0) } == [true, false])
        #expect(cache.value(for: 1) == "one")
        clock.advance(by: .seconds(99))
        #expect(cache.contains(1))
        cache.configuration.timeToLive = nil
        clock.advance(by: .seconds(1_000_000))
        #expect(cache.value(for: 1) == "one")
        // Without a record of the last access the time begins with the change.
        cache.configuration.timeToLive = .seconds(30)
        clock.advance(by: .seconds(29))
        #expect(cache.contains(1))
        clock.advance(by: .seconds(1))
        #expect(!cache.contains(1))
        cache.configuration.timeToLive = .zero
        #expect(!cache.insert("none", for: 1))
    }

    @Test func aWeakEntryTakesTheTimeInEffect() {
        let cache = MemoryCache<Int, Picture>.weak(ttl: .seconds(10), clock: clock)
        let kept = [Picture("1"), Picture("2")]
        cache.insert(kept[0], for: 1, cost: 10)
        cache.insert(kept[1], for: 2, cost: 10)
        clock.advance(by: .seconds(10))
        cache.removeExpired()
        #expect(cache.statistics.weakCount == 2)
        // Too old to come back without an extension, under the former time.
        #expect(cache.value(for: 1, extending: .none)?.name == "1")
        #expect(cache.statistics.count == 0)
        cache.configuration.timeToLive = .seconds(100)
        #expect(cache.value(for: 1, extending: .none)?.name == "1")
        #expect(cache.statistics.count == 1)
        #expect(cache.value(for: 2)?.name == "2")
        clock.advance(by: .seconds(90))
        cache.removeExpired()
        #expect(cache.contents == (10, 1))
        clock.advance(by: .seconds(10))
        cache.removeExpired()
        #expect(cache.contents == (0, 0))
    }

    // MARK: Sweeps

    /// Inserts a value that has expired after a second, and returns the gate that opens when it is released.
    private func insertExpiring(_ key: Int, into cache: MemoryCache<Int, Picture>) -> ScriptedTransportGate {
        let ended = ScriptedTransportGate()
        cache.insert(Picture("\(key)") { ended.open() }, for: key, cost: 10, expiration: .seconds(1))
        return ended
    }

    @Test func sweepsBeginWithAnInterval() async throws {
        let cache = MemoryCache<Int, Picture>.weak(sweep: nil, clock: clock)
        let first = insertExpiring(1, into: cache)
        cache.configuration.sweepInterval = .seconds(1)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await first.wait()
        // Another interval takes the place of the former one.
        try await clock.waitForSleepers()
        cache.configuration.sweepInterval = .seconds(1000)
        let second = insertExpiring(2, into: cache)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1000))
        try await second.wait()
        cache.configuration.sweepInterval = nil
        #expect(cache.sweep.withLock { $0 == nil })
        cache.insert(Picture("3"), for: 3)
        #expect(cache.sweep.withLock { $0 == nil })
    }

    @Test func anIntervalForAnEmptyCacheBeginsWithTheFirstInsert() async throws {
        let cache = MemoryCache<Int, Picture>.weak(sweep: nil, clock: clock)
        cache.configuration.sweepInterval = .seconds(1)
        #expect(cache.sweep.withLock { $0 == nil })
        let ended = insertExpiring(1, into: cache)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await ended.wait()
    }

    /// Limits that are set again and again must not put the sweeps off.
    @Test func otherLimitsLeaveTheSweepsAlone() {
        let cache = MemoryCache<Int, Picture>.weak(sweep: .seconds(120), clock: clock)
        cache.insert(Picture("1"), for: 1, cost: 10)
        let timer = cache.sweep.withLock { $0 }
        #expect(timer != nil)
        cache.configuration.costLimit = 500
        cache.configuration.timeToLive = .seconds(10)
        cache.configuration.sweepInterval = .seconds(120)
        #expect(cache.sweep.withLock { $0 } === timer)
    }

    // MARK: Many threads

    /// An insert that waits for room must see that a lower limit leaves it none.
    @Test(arguments: [false, true]) func shrinkingWhileOthersInsert(isWeak: Bool) {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock, weakly: isWeak ? Picture.weakReference : nil)
        // All in use elsewhere, so that reads put them back.
        let pictures = (0..<100).map { Picture("\($0)") }
        DispatchQueue.concurrentPerform(iterations: 9) { thread in
            var random = SplitMix(state: UInt64(thread))
            for _ in 0..<3000 {
                let key = Int.random(in: 0..<100, using: &random)
                if thread == 8 {
                    let (cost, count) = (
                        Int.random(in: 0...1000, using: &random), Int.random(in: 0...20, using: &random)
                    )
                    var limits = cache.configuration
                    (limits.costLimit, limits.countLimit) = (cost, count)
                    limits.timeToLive = .seconds(Int.random(in: 1...1000, using: &random))
                    cache.configuration = limits
                    let statistics = cache.statistics
                    #expect(statistics.cost <= cost && statistics.count <= count)
                } else if key % 3 == 0 {
                    if let picture = cache.value(for: key) { #expect(picture.name == "\(key)") }
                } else {
                    cache.insert(pictures[key], for: key, cost: Int.random(in: 0...500, using: &random))
                }
            }
        }
        #expect(cache.contents == (cache.statistics.cost, cache.statistics.count))
        #expect(cache.statistics.cost <= cache.configuration.costLimit)
    }

    @Test func theLastOfManySettersWins() {
        let cache = MemoryCache<Int, Picture>.weak(cost: 1000, clock: clock)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for turn in 0..<200 {
                cache.configuration = MemoryCacheConfiguration(
                    costLimit: 100 + thread, timeToLive: .seconds(thread + 1),
                    sweepInterval: (turn + thread) % 2 == 0 ? nil : .seconds(thread + 1))
                cache.insert(Picture("\(turn)"), for: turn, cost: 10)
            }
        }
        let limits = cache.configuration
        #expect(limits.timeToLive == .seconds(limits.costLimit - 99))
        #expect(cache.lifetime.load(ordering: .relaxed) == Double(limits.costLimit - 99))
        cache.insert(Picture("last"), for: 1000, cost: 10)
        #expect((cache.sweep.withLock { $0 } == nil) == (limits.sweepInterval == nil))
        #expect(cache.statistics.cost <= limits.costLimit)
        #expect(cache.contents == (cache.statistics.cost, cache.statistics.count))
    }
}
