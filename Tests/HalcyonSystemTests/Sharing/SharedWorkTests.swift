import HalcyonSystem
import Testing

@Suite struct SharedWorkTests {
    /// The last two events.
    private struct History: EventHistory {
        private(set) var events: [String] = []

        mutating func add(_ event: String) { events = (events + [event]).suffix(2) }
    }

    private typealias Work = SharedWork<String, String, Int, History>

    private var work = Work()

    /// Joins under a new number.
    private mutating func join(
        _ key: String, _ name: String, _ priority: RequestPriority = .normal
    ) -> (id: Int, joined: Work.Joined) {
        let id = work.nextID()
        return (id, work.join(key, as: id, name, priority: priority))
    }

    private func names(_ work: Work.Work?) -> [String]? { work.map { $0.subscribers.sorted() } }

    @Test mutating func equalKeysShareWorkAndOthersDoNot() {
        let (first, second, other) = (join("a", "1").joined, join("a", "2").joined, join("b", "3").joined)
        #expect([first.isNew, second.isNew, other.isNew] == [true, false, true])
        #expect(first.work == second.work && first.work != other.work)
        #expect(work.count == 2 && work.subscriberCount == 3)
        #expect(work.isUnderWay("a") && !work.isUnderWay("c"))
    }

    @Test mutating func everySubscriberReceivesTheEndOnce() {
        let first = join("a", "1")
        _ = join("a", "2")
        #expect(names(work.end(first.joined.work)) == ["1", "2"])
        #expect(names(work.end(first.joined.work)) == nil)
        #expect(work.leave(first.id) == nil)
        #expect(work.count == 0 && work.subscriberCount == 0 && !work.isUnderWay("a"))
    }

    @Test mutating func oneLeavesAndTheLastOneAbandonsTheWork() {
        let (first, second) = (join("a", "1"), join("a", "2"))
        let isSet = work.setHandle(7, of: first.joined.work)
        #expect(isSet)
        let left = work.leave(first.id)
        #expect(left?.subscriber == "1" && left?.work == first.joined.work && left?.abandoned == nil)
        #expect(work.leave(first.id) == nil)
        #expect(work.handle(of: first.joined.work) == 7)
        let last = work.leave(second.id)
        #expect(last?.subscriber == "2" && last?.abandoned?.handle == 7)
        #expect(names(last?.abandoned) == [])
        #expect(work.count == 0 && work.subscriberCount == 0)
    }

    @Test mutating func nobodyJoinsAbandonedWorkAndItsEndIsNoticedByNobody() {
        let first = join("a", "1")
        _ = work.leave(first.id)
        let second = join("a", "2").joined
        #expect(second.isNew && second.work != first.joined.work)
        // The end of the former work comes late.
        #expect(work.end(first.joined.work) == nil)
        let isSet = work.setHandle(1, of: first.joined.work)
        #expect(!isSet)
        #expect(Array(work.record("late", of: first.joined.work)) == [])
        #expect(work.isUnderWay("a"))
        #expect(names(work.end(second.work)) == ["2"])
    }

    @Test mutating func theHighestPriorityCountsAndOnlyChangesAreTold() {
        let first = join("a", "1", .low)
        let (same, raised) = (join("a", "2", .low), join("a", "3", .high))
        #expect([first, same, raised].map(\.joined.priority) == [.low, nil, .high])
        #expect(work.setPriority(.normal, of: first.id) == nil)
        let most = work.setPriority(.veryHigh, of: same.id)
        #expect(most?.work == first.joined.work && most?.priority == .veryHigh)
        #expect(work.leave(same.id)?.priority == .high)
        #expect(work.setPriority(.veryLow, of: raised.id)?.priority == .normal)
        #expect(work.leave(raised.id)?.priority == nil)
        #expect(work.leave(first.id)?.priority == nil)
        #expect(work.setPriority(.high, of: first.id) == nil)
    }

    @Test mutating func aLateSubscriberReceivesTheEarlierEvents() {
        let first = join("a", "1").joined
        #expect(first.replay == [])
        for event in ["x", "y", "z"] { #expect(Array(work.record(event, of: first.work)) == ["1"]) }
        #expect(join("a", "2").joined.replay == ["y", "z"])
        #expect(work.record("w", of: first.work).sorted() == ["1", "2"])
        #expect(join("b", "3").joined.replay == [])
    }

    @Test mutating func allWorkOfSomeKeysEnds() {
        let (first, other) = (join("a", "1"), join("b", "2"))
        _ = join("a", "3")
        let ended = work.endAll { $0 == "a" }
        #expect(ended.mapValues { $0.subscribers.sorted() } == [first.joined.work: ["1", "3"]])
        #expect(work.leave(first.id) == nil)
        #expect(work.leave(other.id)?.subscriber == "2")
        #expect(work.count == 0 && work.subscriberCount == 0)
    }

    /// Holds the bookkeeping against a simple model of it.
    @Test mutating func anyMixtureOfStepsKeepsTheBooks() {
        var random = SystemRandomNumberGenerator()
        var model: [Int: [Int: RequestPriority]] = [:]
        var membership: [Int: Int] = [:]
        for _ in 0..<5_000 {
            let priority = RequestPriority.allCases.randomElement(using: &random) ?? .normal
            let member = membership.keys.randomElement(using: &random)
            switch (Int.random(in: 0..<10, using: &random), member) {
            case (0..<4, _), (_, nil):
                let (id, joined) = join("\(Int.random(in: 0..<3, using: &random))", "", priority)
                let before = model[joined.work]?.values.max()
                #expect(joined.isNew == (before == nil))
                model[joined.work, default: [:]][id] = priority
                membership[id] = joined.work
                #expect(joined.priority == (before.map { $0 < priority } ?? true ? priority : nil))
            case (4..<6, let id?):
                guard let number = membership[id] else { continue }
                let before = model[number]?.values.max()
                model[number]?[id] = priority
                let after = model[number]?.values.max()
                #expect(work.setPriority(priority, of: id)?.priority == (before == after ? nil : after))
            case (6..<9, let id?):
                guard let number = membership.removeValue(forKey: id) else { continue }
                let before = model[number]?.values.max()
                model[number]?[id] = nil
                let after = model[number]?.values.max()
                let left = work.leave(id)
                #expect((left?.abandoned != nil) == (after == nil))
                #expect(left?.priority == (before == after ? nil : after))
                if after == nil { model[number] = nil }
            case (_, let id?):
                guard let number = membership[id] else { continue }
                #expect(work.end(number).map { Array($0.subscribers).count } == model[number]?.count)
                model[number] = nil
                membership = membership.filter { $0.value != number }
            }
            #expect(work.count == model.count && work.subscriberCount == membership.count)
        }
    }
}
