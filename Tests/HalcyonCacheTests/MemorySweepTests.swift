@testable import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import Testing

/// Time and memory pressure take entries out of memory without a lookup.
@Suite(.timeLimit(.minutes(5))) struct MemorySweepTests {
    let clock = ManualClock()

    @Test func sweepRemovesExpiredValues() async throws {
        #expect(MemoryCacheConfiguration().sweepInterval == .seconds(120))
        let cache = MemoryCache<Int, Picture>.weak(ttl: .seconds(100), sweep: .seconds(120), clock: clock)
        let ended = ScriptedTransportGate()
        cache.insert(Picture("1") { ended.open() }, for: 1, cost: 10)
        for turn in 0..<3 {
            let next = ScriptedTransportGate()
            try await clock.waitForSleepers()
            cache.insert(Picture("\(turn)") { next.open() }, for: 2 + turn, cost: 10)
            clock.advance(by: .seconds(120))
            try await next.wait()
        }
        try await ended.wait()
        #expect(cache.statistics.count == 0)
        #expect(cache.statistics.evictions == 0)
    }

    @Test func theSweepKeepsNoCache() async throws {
        var cache: MemoryCache<Int, Picture>? = .weak(sweep: .seconds(120), clock: clock)
        weak let kept = cache
        let ended = ScriptedTransportGate()
        cache?.insert(Picture("1") { ended.open() }, for: 1, cost: 10)
        try await clock.waitForSleepers()
        cache = nil
        try await ended.wait()
        #expect(kept == nil)
    }

    @Test func noSweepIsScheduledWithoutInterval() async throws {
        let cache = MemoryCache<Int, Picture>.weak(sweep: nil, clock: clock)
        cache.insert(Picture("1"), for: 1, cost: 10)
        // The only sleeper that ever comes is this one's.
        let other = MemoryCache<Int, Picture>.weak(sweep: .seconds(-5), clock: clock)
        other.insert(Picture("2"), for: 2, cost: 10)
        try await clock.waitForSleepers()
        // An interval of nothing counts as a second: turning the clock by less wakes no sweep.
        clock.advance(by: .milliseconds(999))
        try await clock.waitForSleepers(1)
        #expect(cache.contains(1) && other.contains(2))
    }

    @Test func trimToAFraction() {
        let cache = MemoryCache<Int, Picture>.weak(clock: clock, weakly: nil)
        for key in 0..<100 { cache.insert(Picture("\(key)"), for: key, cost: 10) }
        for fraction in [1.0, 2, .infinity, .nan] { cache.trim(toFraction: fraction) }
        #expect(cache.statistics.count == 100)
        cache.trim(toFraction: 0.5)
        #expect(cache.statistics.cost == 500)
        // The fraction applies to the cost that is held now.
        cache.trim(toFraction: 0.5)
        #expect(cache.statistics.cost == 250)
        cache.trim(toFraction: -1)
        #expect(cache.statistics.count == 0)
        // Entries that cost nothing are counted.
        for key in 0..<100 { cache.insert(Picture("\(key)"), for: key) }
        cache.relieve(.high)
        #expect(cache.statistics.count == 10)
        cache.relieve(.critical)
        #expect(cache.statistics.count == 0)
    }
}
