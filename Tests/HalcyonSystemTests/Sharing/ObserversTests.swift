import Testing

@testable import HalcyonSystem

@Suite struct ObserversTests {
    @Test func eachIsCalledInOrderUntilItIsRemoved() {
        let observers = Observers<Int>()
        let seen = Lock<[String]>([])
        let removals = ["a", "b", "c"].map { name in
            observers.add { event in seen.withLock { $0.append("\(name)\(event)") } }
        }
        observers.notify(1)
        removals[1]()
        removals[1]()
        observers.notify(2)
        #expect(seen.withLock { $0 } == ["a1", "b1", "c1", "a2", "c2"])
        #expect(observers.count == 2)
    }

    @Test func anObserverMayRemoveItself() {
        let observers = Observers<Int>()
        let removal = Lock<(@Sendable () -> Void)?>(nil)
        let count = Lock(0)
        let remove = observers.add { _ in
            count.withLock { $0 += 1 }
            removal.withLock { $0 }?()
        }
        removal.withLock { $0 = remove }
        observers.notify(1)
        observers.notify(2)
        #expect(count.withLock { $0 } == 1 && observers.count == 0)
    }
}
