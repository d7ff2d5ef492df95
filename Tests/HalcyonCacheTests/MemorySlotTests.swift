import Dispatch
import HalcyonSystem
import HalcyonTesting
import Synchronization
import TestSupport
import Testing

@testable import HalcyonCache

/// The memory that the cache manages by hand, and the lock of lanes before it.
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
        let weakly: @Sendable (Counted) -> WeakValue<Counted>? = { value in WeakValue(value) { $0 } }
        func use(_ end: (MemoryCache<Counted, Counted>) -> Void) {
            let cache = MemoryCache<Counted, Counted>(
                configuration: MemoryCacheConfiguration(countLimit: 100, timeToLive: nil, sweepInterval: nil),
                timeSource: clock.timeSource, shardCount: shards, laneCount: 4, weakly: isWeak ? weakly : nil)
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

    @Test func whatNothingKeepsLeavesNoWeakEntry() {
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
    @Test(arguments: [false, true]) func allThatIsPastItsTimeIsRemoved(isWeak: Bool) {
        let weakly: @Sendable (Picture) -> WeakValue<Picture>? = { $0.weakly }
        let cache = MemoryCache<Int, Picture>.weak(
            ttl: .seconds(10), shards: 1, clock: clock, weakly: isWeak ? weakly : nil)
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
    @Test func roomPassesOnExactly() {
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
            #expect(cache.budget.cost == statistics.cost)
            #expect(cache.budget.count == statistics.count)
        }
    }

    // MARK: Lanes

    @Test func lanesForProcessors() {
        let counts = [(0, 1), (1, 1), (2, 2), (3, 4), (4, 4), (6, 8), (8, 8), (64, 8)]
        for (processors, lanes) in counts { #expect(PerCoreLock.powerOfTwo(for: processors) == lanes) }
        #expect((1...8).contains(PerCoreLock.laneCount))
    }

    @Test(arguments: [1, 2, 8]) func hitsOfAllLanesAreCounted(lanes: Int) async {
        let cache = MemoryCache<Int, String>(
            configuration: MemoryCacheConfiguration(sweepInterval: nil), timeSource: clock.timeSource, shardCount: 2,
            laneCount: lanes)
        cache.insert("one", for: 1)
        let pool = ThreadPool(name: "lanes", threads: 4)
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

    /// Two numbers that only changes make unequal for a moment.
    @Test(arguments: [1, 2, 8]) func aChangeIsAloneAndReadersSeeNoHalf(lanes: Int) async {
        final class Guarded: @unchecked Sendable {
            // `@unchecked` because the lock that is tested guards the numbers.
            let base: UnsafeMutableRawPointer
            let lock: PerCoreLock
            var (first, second) = (0, 0)
            let torn = Atomic<Int>(0)

            init(lanes: Int) {
                base = .allocate(byteCount: PerCoreLock.stride * lanes, alignment: 128)
                lock = PerCoreLock(base: base, mask: lanes - 1)
                lock.initialize()
            }

            deinit {
                lock.deinitialize()
                base.deallocate()
            }
        }
        let guarded = Guarded(lanes: lanes)
        let pool = ThreadPool(name: "lanes", threads: 4)
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    _ = try? await pool.run { _ in
                        for step in 0..<2000 {
                            if (step + thread) % 4 == 0 {
                                guarded.lock.withLock {
                                    guarded.first += 1
                                    guarded.second += 1
                                }
                            } else {
                                let isWhole = guarded.lock.withLane { hits in
                                    hits += 1
                                    return guarded.first == guarded.second
                                }
                                if !isWhole { guarded.torn.add(1, ordering: .relaxed) }
                            }
                        }
                    }
                }
            }
        }
        #expect(guarded.torn.load(ordering: .relaxed) == 0)
        #expect(guarded.lock.withLock { guarded.first } == 2000)
        #expect(guarded.lock.withLock { guarded.lock.hits } == 6000)
    }
}
