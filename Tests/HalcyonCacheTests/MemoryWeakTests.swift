import Foundation
@testable import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import Synchronization
import Testing

/// A value that has left the memory cache is found for as long as something else keeps it.
@Suite(.timeLimit(.minutes(5))) struct MemoryWeakTests {
    let clock = ManualClock()

    @Test func evictedValueIsFoundWhileReferenced() {
        let cache = MemoryCache<Int, Picture>.weak(cost: 300, shards: 1, clock: clock)
        let shown = Picture("1")
        cache.insert(shown, for: 1, cost: 100)
        for key in 2...7 { cache.insert(Picture("\(key)"), for: key, cost: 100) }
        #expect(cache.statistics.evictions == 4)
        // The others that went are not kept by anything.
        #expect((1...7).filter { cache.contains($0) } == [1, 5, 6, 7])
        #expect(cache.value(for: 2) == nil)
        #expect(cache.value(for: 1)?.storage === shown.storage)
        // It is back, with its cost, in the place of another.
        #expect(cache.statistics.cost == 300)
        #expect(cache.statistics.count == 3)
        #expect(cache.statistics.weakHits == 1)
        #expect(cache.value(for: 1)?.name == "1")
        #expect(cache.statistics.hits == 2)
        #expect(cache.statistics.weakHits == 1)
        #expect(cache.statistics.misses == 1)
    }

    @Test func evictedValueIsGoneOnceUnreferenced() {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock)
        var shown: Picture? = Picture("1")
        if let shown { cache.insert(shown, for: 1, cost: 10) }
        cache.trim(toFraction: 0)
        #expect(cache.contains(1))
        #expect(cache.statistics.count == 0)
        #expect(shown != nil)
        shown = nil
        #expect(!cache.contains(1))
        #expect(cache.statistics.weakCount == 1)
        #expect(cache.value(for: 1) == nil)
        #expect(cache.statistics.weakCount == 0)
        #expect(cache.statistics.misses == 1)
    }

    @Test func evictedValuesAreLostWithoutWeakClosure() {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock, weakly: nil)
        let refusing = MemoryCache<Int, Picture>.weak(clock: clock, weakly: { _ in nil })
        let shown = Picture("1")
        for cache in [cache, refusing] {
            cache.insert(shown, for: 1, cost: 10)
            cache.trim(toFraction: 0)
            #expect(!cache.contains(1))
            #expect(cache.value(for: 1) == nil)
            #expect(cache.statistics.weakCount == 0)
        }
    }

    @Test(arguments: MemoryPressure.allCases) func pressureLeavesTheWeakLevel(pressure: MemoryPressure) {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock)
        let shown = (0..<100).map { Picture("\($0)") }
        for key in 0..<100 { cache.insert(shown[key], for: key, cost: 10) }
        cache.relieve(pressure)
        let left = [MemoryPressure.warning: 50, .high: 10, .critical: 0]
        #expect(cache.statistics.count == left[pressure])
        #expect(cache.statistics.cost == cache.statistics.count * 10)
        #expect((0..<100).allSatisfy { cache.value(for: $0)?.storage === shown[$0].storage })
        #expect(cache.statistics.count == 100)
        #expect(cache.statistics.weakHits == 100 - (left[pressure] ?? 0))
        #expect(cache.statistics.weakCount == 0)
    }

    // MARK: Time

    @Test func theCachesTimeToLiveEndsIntoTheWeakLevel() {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock)
        let shown = Picture("1")
        cache.insert(shown, for: 1, cost: 10)
        cache.insert(Picture("2"), for: 2, cost: 10)
        clock.advance(by: .seconds(300))
        #expect(cache.contains(1))
        #expect(!cache.contains(2))
        // Asking has extended nothing.
        #expect(cache.statistics.count == 0)
        #expect(cache.value(for: 2) == nil)
        // An access that does not extend finds it and leaves it where it is.
        #expect(cache.value(for: 1, extending: .none)?.name == "1")
        #expect(cache.statistics.count == 0)
        // One that does brings it back with its lifetime.
        #expect(cache.value(for: 1)?.name == "1")
        #expect(cache.statistics.count == 1)
        #expect(cache.statistics.cost == 10)
        clock.advance(by: .seconds(299))
        #expect(cache.value(for: 1, extending: .none)?.name == "1")
        #expect(cache.statistics.weakHits == 2)
        clock.advance(by: .seconds(1))
        // Straight from its slot, without being asked before.
        #expect(cache.value(for: 1)?.name == "1")
        #expect(cache.statistics.weakHits == 3)
    }

    @Test func anExpirationOfItsOwnEndsInBothLevels() {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock)
        let shown = Picture("1")
        for key in 1...4 { cache.insert(shown, for: key, cost: 10, expiration: .seconds(10)) }
        cache.insert(shown, for: 5, cost: 10, expiration: .never)
        // 1 ends in its slot; the others have been evicted by then.
        clock.advance(by: .seconds(4))
        cache.trim(toFraction: 0)
        cache.insert(shown, for: 1, cost: 10, expiration: .seconds(6))
        // 3 is read and so extended, 4 is put back without.
        #expect(cache.value(for: 3) != nil)
        #expect(cache.value(for: 4, extending: .none) != nil)
        clock.advance(by: .seconds(6))
        #expect((1...5).map { cache.contains($0) } == [false, false, true, false, true])
        #expect(cache.value(for: 1) == nil)
        #expect(cache.value(for: 2) == nil)
        #expect(cache.value(for: 4) == nil)
        #expect(cache.value(for: 3) != nil)
        clock.advance(by: .seconds(1_000_000))
        #expect(cache.value(for: 5) != nil)
    }

    // MARK: What must not come back

    @Test func removedAndReplacedValuesLeaveBothLevels() {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock)
        let shown = (0..<4).map { Picture("\($0)") }
        for key in 0..<4 { cache.insert(shown[key], for: key, cost: 10) }
        cache.trim(toFraction: 0)
        #expect(cache.remove(0)?.name == "0")
        #expect(cache.remove(0) == nil)
        #expect(cache.value(for: 0) == nil)
        cache.insert(Picture("new"), for: 1, cost: 10)
        #expect(cache.value(for: 1)?.name == "new")
        cache.trim(toFraction: 0)
        #expect(cache.value(for: 1) == nil)
        // One that is too dear to be kept replaces it, too.
        #expect(!cache.insert(Picture("dear"), for: 2, cost: 501))
        #expect(cache.value(for: 2) == nil)
        cache.removeAll()
        #expect(cache.value(for: 3) == nil)
        #expect(cache.statistics.weakCount == 0)
    }

    /// While one thread makes the weak reference of what it evicts, others read, insert and remove.
    @Test func cacheStaysConsistentWhileWeakReferenceIsMade() async throws {
        let meanwhile = Lock<(body: @Sendable () -> Void, end: ScriptedTransportGate)?>(nil)
        let cache = MemoryCache<Int, Picture>.weak(
            clock: clock,
            weakly: { picture in
                if let (body, end) = meanwhile.withLock({ $0.take() }) {
                    WorkerThread.startOrBorrow(name: "meanwhile") {
                        body()
                        end.open()
                    }
                }
                return Picture.weakReference(&picture)
            })
        func evicting(_ name: String, _ body: @escaping @Sendable () -> Void) async throws -> Picture {
            let shown = Picture(name)
            cache.removeAll()
            cache.insert(shown, for: 1, cost: 10)
            let end = ScriptedTransportGate()
            meanwhile.withLock { $0 = (body, end) }
            cache.trim(toFraction: 0)
            try await end.wait()
            return shown
        }
        var shown = try await evicting("read") { #expect(cache.value(for: 1)?.name == "read") }
        #expect(cache.statistics.weakHits == 1)
        shown = try await evicting("asked") { #expect(cache.contains(1)) }
        #expect(cache.value(for: 1)?.storage === shown.storage)
        shown = try await evicting("removed") { #expect(cache.remove(1)?.name == "removed") }
        #expect(cache.value(for: 1) == nil)
        shown = try await evicting("all") { cache.removeAll() }
        #expect(cache.value(for: 1) == nil)
        shown = try await evicting("replaced") {
            cache.insert(Picture("newer"), for: 1, cost: 10)
            cache.trim(toFraction: 0)
        }
        // The newer one has left, too, and nothing keeps it.
        #expect(cache.value(for: 1) == nil)
        #expect(shown.name == "replaced")
    }

    /// A value that a reader has found in the weak level must not be put back over one that was inserted or removed meanwhile.
    @Test(arguments: [true, false]) func weakReadDoesNotUndoInsertOrRemove(inserts: Bool) {
        let meanwhile = Lock<(@Sendable () -> Void)?>(nil)
        let cache = MemoryCache<Int, Picture>.weak(
            clock: clock,
            weakly: { picture in
                WeakValue(picture.storage) { storage in
                    let body = meanwhile.withLock { $0.take() }
                    body?()
                    return Picture(storage)
                }
            })
        let shown = Picture("old")
        cache.insert(shown, for: 1, cost: 10)
        cache.trim(toFraction: 0)
        meanwhile.withLock {
            $0 = {
                if inserts { cache.insert(Picture("new"), for: 1, cost: 20) } else { cache.remove(1) }
            }
        }
        // Its read began before.
        #expect(cache.value(for: 1)?.name == "old")
        #expect(cache.value(for: 1)?.name == (inserts ? "new" : nil))
        #expect(cache.statistics.cost == (inserts ? 20 : 0))
        #expect(cache.contents == (cache.statistics.cost, cache.statistics.count))
    }

    // MARK: Bounds

    /// Also if every value that leaves gets a weak reference, with or without another owner.
    @Test(arguments: [(true, 20), (false, 512)]) func theWeakLevelIsBoundedByWhatLives(asks: Bool, most: Int) {
        let cache = MemoryCache<Int, Picture>.weak(
            count: 10, shards: 1, clock: clock, weakly: asks ? Picture.weakReference : { $0.weakly })
        let shown = (0..<20).map { Picture("\($0)") }
        for key in 0..<20 { cache.insert(shown[key], for: key) }
        for key in 100..<10_000 {
            cache.insert(Picture("\(key)"), for: key)
            #expect(cache.statistics.weakCount <= most)
        }
        #expect((0..<20).allSatisfy { cache.contains($0) })
        cache.removeExpired()
        #expect(cache.statistics.weakCount == 20)
    }

    @Test func valuesThatDoNotFitStayWeak() {
        let cache = MemoryCache<Int, Picture>.weak(cost: 100, count: 1, clock: clock)
        let (one, two) = (Picture("1"), Picture("2"))
        cache.insert(one, for: 1, cost: 50)
        cache.insert(two, for: 2, cost: 50)
        for _ in 0..<10 {
            #expect(cache.value(for: 1)?.storage === one.storage)
            #expect(cache.value(for: 2)?.storage === two.storage)
            #expect(cache.statistics.count == 1)
            #expect(cache.statistics.cost == 50)
        }
    }

    /// Values whose end calls the cache, which would wait for itself if it held its lock then.
    @Test func valuesAreReleasedOutsideTheLock() {
        let cache = MemoryCache<Int, Picture>.weak(cost: 100, ttl: .seconds(10), shards: 1, clock: clock)
        let ends = Counter()
        func picture() -> Picture {
            Picture("p") { [weak cache] in
                ends.add()
                _ = cache?.contains(7)
            }
        }
        for key in 0..<200 { cache.insert(picture(), for: key, cost: 50) }
        for key in 0..<200 { _ = cache.value(for: key) }
        clock.advance(by: .seconds(10))
        cache.removeExpired()
        for end in [cache.removeAll, cache.removeExpired, { cache.remove(1) }] {
            cache.insert(picture(), for: 1, cost: 50)
            cache.insert(picture(), for: 1, cost: 50)
            clock.advance(by: .seconds(10))
            end()
        }
        #expect(ends.value == 206)
        #expect(cache.statistics.count == 0)
    }

    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }
}
