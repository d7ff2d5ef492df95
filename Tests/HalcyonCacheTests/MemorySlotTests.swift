import Dispatch
import HalcyonSystem
import HalcyonTesting
import Synchronization
import TestSupport
import Testing

@testable import HalcyonCache

/// The memory that the cache manages by hand.
@Suite(.timeLimit(.minutes(5))) struct MemorySlotTests {
    let clock = ManualClock()

    /// How many instances there are that count themselves.
    private final class Census: Sendable {
        private let living = Atomic<Int>(0)
        var count: Int { living.load(ordering: .sequentiallyConsistent) }
        func add(_ number: Int) { living.add(number, ordering: .sequentiallyConsistent) }
    }

    private final class Counted: Sendable, Hashable {
        let number: Int
        private let census: Census

        init(_ number: Int, _ census: Census) {
            (self.number, self.census) = (number, census)
            census.add(1)
        }

        deinit { census.add(-1) }

        static func == (left: Counted, right: Counted) -> Bool { left.number == right.number }

        // All in the same few places of the table, so that searches run far.
        var hashValue: Int { number & 0xF }

        func hash(into hasher: inout Hasher) { hasher.combine(number & 0xF) }
    }

    /// Keys and values, counted, through growth, replacement, removal, eviction and the end.
    @Test(arguments: [1, 16], [false, true]) func eachKeyAndValueIsReleasedOnce(shards: Int, isWeak: Bool) {
        let (keys, values) = (Census(), Census())
        let weakly: MemoryCache<Counted, Counted>.WeakReference = { value in
            isKnownUniquelyReferenced(&value) ? nil : WeakValue(value) { $0 }
        }
        func use(_ end: (MemoryCache<Counted, Counted>) -> Void) {
            let cache = MemoryCache<Counted, Counted>(
                configuration: MemoryCacheConfiguration(countLimit: 100, timeToLive: nil, sweepInterval: nil),
                timeSource: clock.timeSource, shardCount: shards, weakly: isWeak ? weakly : nil)
            for number in 0..<400 {
                cache.insert(Counted(number, values), for: Counted(number, keys))
                if number % 3 == 0 { cache.insert(Counted(number, values), for: Counted(number, keys)) }
                if number % 5 == 0 { cache.remove(Counted(number - 7, keys)) }
                let count = cache.statistics.count
                #expect(keys.count == count && values.count == count)
                #expect(cache.value(for: Counted(number, keys))?.number == number)
            }
            #expect(cache.statistics.weakCount == 0)
            end(cache)
        }
        use { cache in
            cache.removeAll()
            #expect(keys.count == 0 && values.count == 0)
            #expect(cache.insert(Counted(1, values), for: Counted(1, keys)))
        }
        #expect(keys.count == 0 && values.count == 0)
        use { _ in }
        #expect(keys.count == 0 && values.count == 0)
    }

    @Test func unreferencedValuesLeaveNoWeakEntries() {
        let cache = MemoryCache<Int, Picture>.weak(count: 10, clock: clock)
        let shown = Picture("shown")
        cache.insert(shown, for: -1)
        for key in 0..<100 {
            cache.insert(Picture("\(key)"), for: key)
            #expect(cache.statistics.weakCount <= 1)
        }
        #expect(cache.statistics.weakCount == 1)
        #expect(cache.value(for: -1)?.storage === shown.storage)
    }

    /// More than one look at a shard takes out.
    @Test(arguments: [false, true]) func allExpiredEntriesAreRemoved(isWeak: Bool) {
        let cache = MemoryCache<Int, Picture>.weak(
            ttl: .seconds(10), shards: 1, clock: clock, weakly: isWeak ? Picture.weakReference : nil)
        let shown = (0..<50).map { Picture("\($0)") }
        for key in 0..<500 {
            let picture = key < 50 ? shown[key] : Picture("\(key)")
            let expiration: StorageExpiration? = key % 10 == 9 ? .never : nil
            cache.insert(picture, for: key, expiration: expiration)
        }
        clock.advance(by: .seconds(10))
        cache.removeExpired()
        #expect(cache.statistics.count == 50)
        #expect(cache.statistics.weakCount == (isWeak ? 45 : 0))
        #expect((0..<500).filter { cache.contains($0) }.count == (isWeak ? 95 : 50))
    }

    /// In a full cache the room of the one that goes is that of the new one, dearer or cheaper.
    @Test func evictionKeepsCostExact() {
        let cache = MemoryCache<Int, String>(
            configuration: MemoryCacheConfiguration(costLimit: 1000, sweepInterval: nil),
            timeSource: clock.timeSource, shardCount: 4)
        var random = SplitMix(state: 7)
        for _ in 0..<2000 {
            let (key, cost) = (Int.random(in: 0..<60, using: &random), Int.random(in: 0...200, using: &random))
            #expect(cache.insert("", for: key, cost: cost))
            #expect(cache.contains(key))
            let statistics = cache.statistics
            #expect(statistics.cost <= 1000)
            #expect(cache.contents == (statistics.cost, statistics.count))
        }
    }

    // MARK: Threads

    @Test(arguments: [1, 16]) func hitsAndMissesOfAllThreadsAreCounted(shards: Int) async {
        let cache = MemoryCache<Int, String>(
            configuration: MemoryCacheConfiguration(sweepInterval: nil), timeSource: clock.timeSource,
            shardCount: shards)
        cache.insert("one", for: 1)
        let pool = ThreadPool(name: "readers", threads: 4)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    _ = try? await pool.run { _ in
                        for _ in 0..<500 { _ = (cache.value(for: 1), cache.value(for: 2)) }
                    }
                }
            }
        }
        #expect(cache.statistics.hits == 2000)
        #expect(cache.statistics.misses == 2000)
        cache.removeAll()
        #expect(cache.statistics.hits == 2000)
    }
}
