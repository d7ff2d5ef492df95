import Testing

@testable import HalcyonGTK

/// The position of a list, and the part of it that is loaded.
@Suite struct ListWindowTests {
    private struct Case {
        var value = 0.0
        var upper = 1000.0
        var page = 100.0
        var count = 100
        let visible: Range<Int>
    }

    @Test func visibleItemsFollowScrollPosition() {
        // 100 items of 10 each, a hundred of which are seen at a time.
        let cases = [
            Case(visible: 0..<10), Case(value: 5, visible: 0..<11), Case(value: 10, visible: 1..<11),
            Case(value: 900, visible: 90..<100), Case(value: 899.999999, visible: 90..<100),
            // More than there is, and nothing.
            Case(value: 950, visible: 95..<100), Case(value: 5000, visible: 99..<100), Case(value: -50, visible: 0..<5),
            Case(upper: 50, visible: 0..<100), Case(count: 0, visible: 0..<0), Case(page: 0, visible: 0..<0),
            Case(upper: 0, visible: 0..<0), Case(value: .nan, visible: 0..<0), Case(upper: .infinity, visible: 0..<0),
            Case(page: .nan, visible: 0..<0), Case(page: .infinity, visible: 0..<100),
            // Items that are larger than the list.
            Case(value: 250, count: 2, visible: 0..<1), Case(value: 450, count: 2, visible: 0..<2),
            Case(count: 1, visible: 0..<1), Case(count: -1, visible: 0..<0),
        ]
        for test in cases {
            let window = ListWindow(
                value: test.value, lower: 0, upper: test.upper, pageSize: test.page, count: test.count)
            #expect(window.visible == test.visible, "\(test)")
        }
        let shifted = ListWindow(value: 110, lower: 100, upper: 1100, pageSize: 100, count: 100)
        #expect(shifted.visible == 1..<11)
    }

    @Test func itemsAheadFollowScrollDirection() {
        let middle = ListWindow(value: 500, lower: 0, upper: 1000, pageSize: 40, count: 100)
        #expect(middle.ahead(.forward, screens: 1, limit: 100) == [54, 55, 56, 57])
        #expect(middle.ahead(.backward, screens: 1, limit: 100) == [49, 48, 47, 46])
        #expect(middle.ahead(.forward, screens: 0.3, limit: 100) == [54, 55])
        #expect(middle.ahead(.backward, screens: 2, limit: 3) == [49, 48, 47])
        #expect(middle.ahead(.forward, screens: .infinity, limit: 3) == [54, 55, 56])
        #expect(middle.ahead(.forward, screens: 1e300, limit: .max).count == 46)
        for (screens, limit) in [(0.0, 100), (-1, 100), (.nan, 100), (1, 0), (1, -5)] {
            #expect(middle.ahead(.forward, screens: screens, limit: limit) == [])
        }
        let (start, end) = (
            ListWindow(value: 20, lower: 0, upper: 1000, pageSize: 40, count: 100),
            ListWindow(value: 960, lower: 0, upper: 1000, pageSize: 40, count: 100)
        )
        #expect(start.ahead(.backward, screens: 1, limit: 100) == [1, 0])
        #expect(end.ahead(.forward, screens: 1, limit: 100) == [])
    }

    // MARK: - What is loaded

    private final class Work {
        let name: Int
        init(_ name: Int) { self.name = name }
    }

    /// A plan that works at some positions.
    private func plan(_ positions: [Int], started: [Int], visible: Range<Int> = 0..<0) -> (ListPlan<Work>, [Int: Work])
    {
        var plan = ListPlan<Work>()
        var works: [Int: Work] = [:]
        _ = plan.move(to: positions, visible: visible)
        for position in started {
            works[position] = Work(position)
            plan.start(position, works[position])
        }
        return (plan, works)
    }

    @Test func nearestItemIsNextWithinConcurrency() throws {
        var (plan, works) = plan([10, 11, 12, 13], started: [10, 11])
        #expect(plan.next(atMost: 2) == nil && plan.next(atMost: 3) == 12)
        plan.end(try #require(works[10]))
        #expect(plan.next(atMost: 2) == 12)
        // Nothing to do there.
        plan.start(12, nil)
        #expect(plan.next(atMost: 2) == 13 && plan.runningPositions == [11])
        plan.start(13, nil)
        #expect(plan.next(atMost: 2) == nil)
    }

    @Test func movedPlanStopsItemsOutsideAheadAndVisible() throws {
        var (plan, works) = plan([10, 11, 12, 13], started: [10, 11, 13])
        plan.end(try #require(works[13]))
        #expect(plan.move(to: [12, 13, 14], visible: 11..<12).map(\.name) == [10])
        #expect(plan.runningPositions == [11])
        #expect(plan.next(atMost: 9) == 12)
        plan.start(12, nil)
        // Once it has ended it is not done again.
        #expect(plan.next(atMost: 9) == 14)
        #expect(plan.move(to: [], visible: 0..<0).map(\.name) == [11])
        // Away and back is anew.
        _ = plan.move(to: [13], visible: 0..<0)
        #expect(plan.next(atMost: 9) == 13)
    }

    @Test func itemsThatComeAndGo() throws {
        var (plan, works) = plan([10, 11, 12, 13], started: [10, 11, 12])
        plan.end(try #require(works[10]))
        let revision = plan.revision
        // One in the place of 11 and two more: 12 is 14.
        #expect(plan.replace(11, removed: 1, added: 3).map(\.name) == [11])
        #expect(plan.revision != revision && plan.runningPositions == [14])
        #expect(plan.next(atMost: 9) == 15)
        // In front of all.
        #expect(plan.replace(0, removed: 0, added: 5).isEmpty)
        #expect(plan.runningPositions == [19])
        _ = plan.move(to: [15, 19, 20], visible: 0..<0)
        #expect(plan.next(atMost: 9) == 20)
        #expect(plan.clear().map(\.name) == [12])
        #expect(plan.next(atMost: 9) == nil && plan.runningPositions.isEmpty)
    }
}
