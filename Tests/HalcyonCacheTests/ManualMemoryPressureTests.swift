import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import Testing

/// Pressure that a test makes reaches its subscribers, for as long as they are subscribed.
@Suite(.timeLimit(.minutes(5))) struct ManualMemoryPressureTests {
    @Test func aCacheGivesMemoryBackWhenItIsTold() {
        let pressure = ManualMemoryPressure()
        let cache = MemoryCache<Int, Picture>.weak(clock: ManualClock(), weakly: nil)
        for key in 0..<100 { cache.insert(Picture("\(key)"), for: key, cost: 10) }
        var subscription: MemoryPressureSubscription? = pressure.subscribe { [weak cache] in cache?.relieve($0) }
        #expect(pressure.subscriberCount == 1)
        #expect(subscription != nil)
        pressure.send(.warning)
        #expect(cache.statistics.count == 50)
        pressure.send(.high)
        #expect(cache.statistics.count == 5)
        // Letting it go ends it.
        subscription = nil
        #expect(pressure.subscriberCount == 0)
        pressure.send(.critical)
        #expect(cache.statistics.count == 5)
    }

    @Test func cancellingEndsASubscriptionOnce() {
        let pressure = ManualMemoryPressure()
        let seen = Lock<[String]>([])
        let first = pressure.subscribe { step in seen.withLock { $0.append("1 \(step)") } }
        let second = pressure.subscribe { step in seen.withLock { $0.append("2 \(step)") } }
        pressure.send(.high)
        first.cancel()
        first.cancel()
        pressure.send(.warning)
        second.cancel()
        pressure.send(.critical)
        #expect(seen.withLock { $0 } == ["1 high", "2 high", "2 warning"])
    }
}
