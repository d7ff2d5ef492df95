import Testing

@testable import RedisStore

@Suite("A circuit breaker") struct CircuitBreakerTests {
    @Test("three failures in a row suspend, doubling from a second to half a minute") func suspensions() {
        var breaker = CircuitBreaker()
        let failures = (0..<5).map { _ in breaker.failed() }
        #expect(failures == [false, false, true, false, false])
        var seconds: [Duration?] = []
        for _ in 0..<8 {
            seconds.append(breaker.suspension(shortenedBy: 0))
            breaker.probed(succeeded: false)
        }
        #expect(seconds == [1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        for _ in 0..<100 {
            let time = breaker.suspension() ?? .zero
            #expect(time <= .seconds(30) && time >= .seconds(22.5))
        }
        breaker.probed(succeeded: true)
        #expect(breaker.isClosed)
        #expect(breaker.suspension() == nil)
        let again = (0..<3).map { _ in breaker.failed() }
        #expect(again == [false, false, true])
        #expect(breaker.suspension(shortenedBy: 0) == .seconds(1))
    }

    @Test("an answer between failures starts the count again, and one that is late changes nothing") func successes() {
        var breaker = CircuitBreaker()
        for _ in 0..<10 {
            let failures = [breaker.failed(), breaker.failed()]
            #expect(failures == [false, false])
            breaker.succeeded()
        }
        for _ in 0..<3 { _ = breaker.failed() }
        breaker.succeeded()
        #expect(!breaker.isClosed)
    }
}

@Suite("Removals that are not confirmed") struct PendingRemovalsTests {
    @Test("an entry is covered from its removal to the confirmation of the last one") func covering() {
        var removals = PendingRemovals(limit: 10)
        let (first, second) = (removals.begin("a"), removals.begin("a"))
        removals.end("a", first, isConfirmed: true)
        #expect(removals.covers("a"))
        #expect(!removals.covers("b"))
        #expect(!removals.hasUnsent)
        removals.end("a", second, isConfirmed: false)
        #expect(removals.hasUnsent)
        let taken = removals.takeUnsent(atMost: 5)
        #expect(taken == ["a": second])
        #expect(!removals.hasUnsent)
        removals.end("a", second, isConfirmed: true)
        #expect(!removals.covers("a"))
    }

    @Test("a newer entry ends earlier removals and no later one") func replacing() {
        var removals = PendingRemovals(limit: 10)
        _ = removals.begin("a")
        let mark = removals.beginReplacing("a")
        #expect(!removals.hasUnsent)
        removals.replaced("a", upTo: mark)
        #expect(!removals.covers("a"))
        _ = removals.begin("a")
        removals.replaced("a", upTo: mark)
        #expect(removals.covers("a"))
    }

    @Test("beyond the limit everything is removed, and the list is empty") func overflow() {
        var removals = PendingRemovals(limit: 3)
        for number in 0..<3 { _ = removals.begin("\(number)") }
        #expect(!removals.covers("x"))
        _ = removals.begin("3")
        #expect(removals.covers("x"))
        #expect(removals.count == 0)
        let taken = removals.takeUnsent(atMost: 10)
        #expect(taken.isEmpty)
        let (clearing, again) = (removals.takeUnsentClearing(), removals.takeUnsentClearing())
        #expect(clearing == removals.clearing)
        #expect(again == nil)
        // Removed after the clearing was sent, so that it does not cover this one.
        _ = removals.begin("late")
        removals.endClearing(clearing ?? 0, isConfirmed: true)
        #expect(removals.covers("late"))
        #expect(!removals.covers("x"))
    }

    @Test("a clearing that failed is sent again, and an earlier one does not end a later one") func clearing() {
        var removals = PendingRemovals(limit: 3)
        let first = removals.beginClearing()
        let second = removals.beginClearing()
        removals.endClearing(first, isConfirmed: true)
        #expect(removals.covers("x"))
        removals.endClearing(second, isConfirmed: false)
        #expect(removals.hasUnsent)
        let again = removals.takeUnsentClearing()
        #expect(again == second)
        removals.endClearing(second, isConfirmed: true)
        #expect(!removals.covers("x"))
        #expect(!removals.hasUnsent)
    }
}
