import Dispatch
import Foundation
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

@testable import HalcyonCache

@Suite struct MemoryCacheTests {
    let clock = ManualClock()

    func cache(
        cost: Int = 1000, count: Int? = nil, entry: Int? = nil, ttl: Duration? = .seconds(300), shards: Int = 16
    ) -> MemoryCache<Int, String> {
        MemoryCache(
            configuration: MemoryCacheConfiguration(
                costLimit: cost, countLimit: count, entryCostLimit: entry, timeToLive: ttl, sweepInterval: nil),
            timeSource: clock.timeSource, shardCount: shards)
    }

    @Test func hitsAndMisses() {
        let cache = cache()
        #expect(cache.value(for: 1) == nil)
        #expect(cache.insert("one", for: 1, cost: 10))
        #expect(cache.value(for: 1) == "one")
        #expect(cache.contains(1))
        #expect(!cache.contains(2))
        #expect(cache.insert("uno", for: 1, cost: 20))
        #expect(cache.value(for: 1) == "uno")
        #expect(cache.remove(1) == "uno")
        #expect(cache.remove(1) == nil)
        let statistics = cache.statistics
        #expect(statistics.hits == 2)
        #expect(statistics.misses == 1)
        #expect(statistics.cost == 0)
        #expect(statistics.count == 0)
        #expect(statistics.evictions == 0)
    }

    @Test func defaults() {
        let configuration = MemoryCacheConfiguration()
        #expect(configuration.costLimit == MemoryCacheConfiguration.costLimit(ofMemory: SystemGrant.current.memory))
        #expect(MemoryCacheConfiguration.costLimit(ofMemory: 400 << 20) == 100 << 20)
        #expect(MemoryCacheConfiguration.costLimit(ofMemory: 64 << 30) == 1 << 30)
        #expect(configuration.countLimit == nil)
        #expect(configuration.timeToLive == .seconds(300))
        #expect(configuration.sweepInterval == .seconds(120))
        // The system's own clock, read coarsely.
        let cache = MemoryCache<Int, Int>()
        #expect(cache.insert(1, for: 1, cost: configuration.costLimit / 2))
        #expect(!cache.insert(2, for: 2, cost: configuration.costLimit / 2 + 1))
        #expect(cache.value(for: 1) == 1)
    }

    // MARK: Time

    @Test func anEntryEndsAfterItsTimeSinceTheLastAccess() {
        let cache = cache()
        cache.insert("one", for: 1, cost: 10)
        clock.advance(by: .seconds(299))
        #expect(cache.value(for: 1) == "one")
        clock.advance(by: .seconds(299))
        #expect(cache.value(for: 1) == "one")
        clock.advance(by: .seconds(300))
        #expect(!cache.contains(1))
        #expect(cache.statistics.count == 1)
        #expect(cache.value(for: 1) == nil)
        // Expired is removed with the miss, and its cost given back.
        #expect(cache.statistics.count == 0)
        #expect(cache.statistics.cost == 0)
        #expect(cache.insert("half", for: 2, cost: 500))
        #expect(cache.insert("half", for: 3, cost: 500))
    }

    @Test func containsDoesNotExtend() {
        let cache = cache()
        cache.insert("one", for: 1)
        clock.advance(by: .seconds(200))
        #expect(cache.contains(1))
        clock.advance(by: .seconds(200))
        #expect(!cache.contains(1))
        #expect(cache.value(for: 1) == nil)
    }

    @Test func extensionPolicies() {
        let cache = cache()
        for key in 1...3 { cache.insert("\(key)", for: key) }
        clock.advance(by: .seconds(200))
        #expect(cache.value(for: 1, extending: .none) == "1")
        #expect(cache.value(for: 2, extending: .expirationTime(.seconds(1000))) == "2")
        #expect(cache.value(for: 3, extending: .expirationTime(.seconds(1))) == "3")
        clock.advance(by: .seconds(99))
        // An extension never shortens.
        #expect((1...3).allSatisfy { cache.contains($0) })
        clock.advance(by: .seconds(1))
        #expect((1...3).map { cache.contains($0) } == [false, true, false])
        clock.advance(by: .seconds(899))
        #expect(cache.contains(2))
        clock.advance(by: .seconds(1))
        #expect(!cache.contains(2))
    }

    @Test func anEntryMayHaveItsOwnTime() {
        let cache = cache()
        #expect(cache.insert("short", for: 1, expiration: .seconds(10)))
        #expect(cache.insert("ever", for: 2, expiration: .never))
        #expect(cache.insert("until", for: 3, expiration: .date(clock.now.addingTimeInterval(20))))
        #expect(!cache.insert("over", for: 4, expiration: .expired))
        #expect(!cache.insert("over", for: 4, expiration: .date(clock.now.addingTimeInterval(-1))))
        #expect(!cache.insert("over", for: 4, expiration: .seconds(.nan)))
        clock.advance(by: .seconds(10))
        #expect((1...4).map { cache.contains($0) } == [false, true, true, false])
        #expect(cache.value(for: 3) == "until")
        clock.advance(by: .seconds(19))
        #expect(cache.contains(3))
        clock.advance(by: .seconds(1_000_000_000))
        #expect(cache.value(for: 2) == "ever")
    }

    @Test func withoutTimeToLiveAnEntryStays() {
        let cache = cache(ttl: nil)
        cache.insert("one", for: 1)
        clock.advance(by: .seconds(1_000_000_000))
        #expect(cache.value(for: 1) == "one")
    }

    @Test func removeExpired() {
        let cache = cache()
        for key in 0..<50 { cache.insert("\(key)", for: key, cost: 2) }
        clock.advance(by: .seconds(200))
        for key in 0..<10 { _ = cache.value(for: key) }
        clock.advance(by: .seconds(100))
        cache.removeExpired()
        #expect(cache.statistics.count == 10)
        #expect(cache.statistics.cost == 20)
        #expect(cache.statistics.evictions == 0)
        #expect((0..<50).filter { cache.contains($0) } == Array(0..<10))
    }

    // MARK: Limits

    @Test func unreadEntriesAreEvictedFirst() {
        let cache = cache(cost: 300, shards: 1)
        for key in 1...3 { cache.insert("\(key)", for: key, cost: 100) }
        #expect(cache.value(for: 1) == "1")
        cache.insert("4", for: 4, cost: 100)
        #expect((1...4).map { cache.contains($0) } == [true, false, true, true])
        // 1 has been read and 4 is the newest: 3 goes.
        cache.insert("5", for: 5, cost: 100)
        #expect((1...5).map { cache.contains($0) } == [true, false, false, true, true])
        #expect(cache.statistics.evictions == 2)
    }

    @Test func withoutReadsTheOldestGoesFirst() {
        let cache = cache(cost: 400, shards: 1)
        for key in 1...8 { cache.insert("\(key)", for: key, cost: 100) }
        #expect((1...8).filter { cache.contains($0) } == [5, 6, 7, 8])
    }

    @Test(arguments: [1, 2, 16]) func newestEntryIsNotEvicted(shards: Int) {
        let cache = cache(cost: 400, shards: shards)
        for key in 1...200 {
            cache.insert("\(key)", for: key, cost: 100)
            #expect(cache.contains(key))
            // With several shards the hand does not pass the others in the order of their age.
            if key > 1, shards == 1 { #expect(cache.contains(key - 1)) }
        }
    }

    @Test func containsDoesNotProtectFromEviction() {
        let cache = cache(cost: 300, shards: 1)
        for key in 1...3 { cache.insert("\(key)", for: key, cost: 100) }
        #expect(cache.contains(1))
        cache.insert("4", for: 4, cost: 100)
        #expect(!cache.contains(1))
    }

    @Test func expiredEntriesGoBeforeReadOnes() {
        let cache = cache(cost: 300, shards: 1)
        cache.insert("1", for: 1, cost: 100)
        cache.insert("2", for: 2, cost: 100, expiration: .seconds(10))
        cache.insert("3", for: 3, cost: 100)
        _ = cache.value(for: 2)
        clock.advance(by: .seconds(11))
        cache.insert("4", for: 4, cost: 100)
        #expect([1, 3, 4].allSatisfy { cache.contains($0) })
        #expect(cache.statistics.evictions == 0)
    }

    @Test func entryCostIsLimitedToHalfTheCache() {
        let cache = cache()
        #expect(cache.insert("half", for: 1, cost: 500))
        #expect(cache.insert("half", for: 2, cost: 500))
        #expect(!cache.insert("more", for: 3, cost: 501))
        #expect(cache.contains(1) && cache.contains(2))
        // A value that is too dear does not leave the key's former one in place.
        #expect(!cache.insert("more", for: 1, cost: 501))
        #expect(!cache.contains(1))
        #expect(cache.statistics.cost == 500)
        #expect(self.cache(entry: 900).insert("large", for: 1, cost: 900))
        #expect(!self.cache(entry: 2000).insert("too large", for: 1, cost: 1001))
        #expect(self.cache(cost: 0).insert("free", for: 1, cost: -5))
        #expect(!self.cache(count: 0).insert("none", for: 1, cost: 1))
    }

    @Test func countLimit() {
        let cache = cache(count: 10)
        for key in 0..<100 { #expect(cache.insert("\(key)", for: key)) }
        #expect(cache.statistics.count == 10)
        #expect(cache.contains(99))
        #expect(cache.insert("again", for: 99))
        #expect(cache.statistics.count == 10)
        #expect(cache.statistics.evictions == 90)
    }

    @Test func replacingNeedsOnlyTheDifference() {
        let cache = cache(cost: 1000)
        for key in 0..<10 { cache.insert("\(key)", for: key, cost: 100) }
        #expect(cache.insert("smaller", for: 3, cost: 50))
        #expect(cache.insert("back", for: 3, cost: 100))
        #expect(cache.statistics.count == 10)
        #expect(cache.statistics.cost == 1000)
        #expect(cache.insert("larger", for: 3, cost: 150))
        #expect(cache.value(for: 3) == "larger")
        #expect(cache.statistics.cost == 950)
        #expect(cache.statistics.evictions == 1)
    }

    /// Wherever the hand stands, and though all others have been read as well.
    @Test(arguments: 0..<10) func aReplacementNeverEvictsItsOwnFormer(key: Int) {
        let cache = cache(cost: 1000, shards: 1)
        for key in 0..<10 { cache.insert("\(key)", for: key, cost: 100) }
        for key in 0..<10 { _ = cache.value(for: key) }
        #expect(cache.insert("larger", for: key, cost: 150))
        #expect(cache.statistics.evictions == 1)
        #expect(cache.statistics.count == 9)
    }

    @Test func trim() {
        let cache = cache()
        for key in 0..<10 { cache.insert("\(key)", for: key, cost: 100) }
        for key in 5..<10 { _ = cache.value(for: key) }
        cache.trim(toCost: 550)
        #expect(cache.statistics.cost == 500)
        #expect((0..<10).filter { cache.contains($0) } == Array(5..<10))
        cache.trim(toCost: 0)
        #expect(cache.statistics.count == 0)
        cache.trim(toCost: 0)
        #expect(cache.insert("one", for: 1, cost: 500))
    }

    @Test func removeAll() {
        let cache = cache()
        for key in 0..<100 { cache.insert("\(key)", for: key, cost: 5) }
        _ = cache.value(for: 1)
        cache.removeAll()
        #expect(cache.statistics.count == 0)
        #expect(cache.statistics.cost == 0)
        #expect(cache.statistics.hits == 1)
        #expect(!cache.contains(1))
        for key in 0..<100 { #expect(cache.insert("\(key)", for: key, cost: 10)) }
        #expect(cache.statistics.cost == 1000)
    }

    // MARK: Everything together

    /// Ten thousand operations against a dictionary that forgets nothing: what the cache still has must be what was
    /// inserted last, and its totals must be those of what it still has.
    @Test(arguments: [UInt64(1), 2, 3], [nil, 60 as Int?]) func totalsAreExact(seed: UInt64, countLimit: Int?) {
        var random = SplitMix(state: seed)
        let cache = cache(cost: 2000, count: countLimit)
        var model: [Int: (value: String, cost: Int)] = [:]
        for step in 0..<10_000 {
            let key = Int.random(in: 0..<300, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9:
                let cost = Int.random(in: 0...60, using: &random)
                #expect(cache.insert("\(step)", for: key, cost: cost))
                model[key] = ("\(step)", cost)
            case 9..<16:
                if let value = cache.value(for: key) { #expect(value == model[key]?.value) }
            case 16:
                cache.remove(key)
                model[key] = nil
            case 17:
                clock.advance(by: .seconds(30))
            case 18:
                cache.removeExpired()
            default:
                cache.trim(toCost: 1800)
                #expect(cache.statistics.cost <= 1800)
            }
            #expect(cache.statistics.cost <= 2000)
            #expect(cache.statistics.count <= countLimit ?? .max)
        }
        cache.removeExpired()
        let present = model.filter { cache.contains($0.key) }
        #expect(present.allSatisfy { cache.value(for: $0.key) == $0.value.value })
        #expect(cache.statistics.count == present.count)
        #expect(cache.statistics.cost == present.reduce(0) { $0 + $1.value.cost })
        // The totals agree with what the shards hold, or room would be lost for good.
        #expect(cache.contents == (cache.statistics.cost, cache.statistics.count))
    }

    @Test func eightThreadsAtOnce() {
        let cache = cache(cost: 1000, count: 80)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var random = SplitMix(state: UInt64(thread))
            for _ in 0..<2000 {
                let key = Int.random(in: 0..<200, using: &random)
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4: cache.insert("\(key)", for: key, cost: Int.random(in: 0...500, using: &random))
                case 4..<8: if let value = cache.value(for: key) { #expect(value == "\(key)") }
                case 8: cache.remove(key)
                default: key == 0 ? cache.removeAll() : cache.trim(toCost: 900)
                }
                let statistics = cache.statistics
                #expect(statistics.cost >= 0 && statistics.count >= 0)
            }
        }
        #expect(cache.statistics.cost <= 1000)
        #expect(cache.statistics.count <= 80)
        #expect(cache.contents == (cache.statistics.cost, cache.statistics.count))
    }

    @Test func valuesAreReleasedOutsideTheLock() {
        let cache = MemoryCache<Int, Reentrant>(
            configuration: MemoryCacheConfiguration(costLimit: 100, timeToLive: .seconds(10), sweepInterval: nil),
            timeSource: clock.timeSource, shardCount: 1)
        func value() -> Reentrant { Reentrant { _ = cache.contains(7) } }
        exercise(cache, key: { $0 }, value: value)
    }

    @Test func keysAreReleasedOutsideTheLock() {
        let cache = MemoryCache<ReentrantKey, Int>(
            configuration: MemoryCacheConfiguration(costLimit: 100, timeToLive: .seconds(10), sweepInterval: nil),
            timeSource: clock.timeSource, shardCount: 1)
        let other = ReentrantKey(number: 7, end: nil)
        exercise(
            cache, key: { ReentrantKey(number: $0, end: Reentrant { _ = cache.contains(other) }) }, value: { 1 })
    }

    /// Everything that lets an entry go.
    private func exercise<Key, Value>(_ cache: MemoryCache<Key, Value>, key: (Int) -> Key, value: () -> Value) {
        cache.insert(value(), for: key(1), cost: 50)
        cache.insert(value(), for: key(1), cost: 50)
        cache.insert(value(), for: key(2), cost: 50)
        cache.insert(value(), for: key(3), cost: 50)
        cache.remove(key(3))
        clock.advance(by: .seconds(10))
        _ = cache.value(for: key(2))
        cache.insert(value(), for: key(4), cost: 50)
        clock.advance(by: .seconds(10))
        cache.removeExpired()
        cache.insert(value(), for: key(5), cost: 50)
        cache.removeAll()
        cache.insert(value(), for: key(6), cost: 50)
        cache.trim(toCost: 0)
        #expect(cache.statistics.count == 0)
    }
}

/// A value whose end calls the cache, which would wait for itself if it held its lock then.
private final class Reentrant: Sendable {
    let atEnd: @Sendable () -> Void
    init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
    deinit { atEnd() }
}

private struct ReentrantKey: Hashable, Sendable {
    let number: Int
    let end: Reentrant?

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }

    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
