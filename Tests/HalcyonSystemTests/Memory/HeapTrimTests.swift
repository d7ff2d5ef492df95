import Testing

@testable import HalcyonSystem

@Suite(.timeLimit(.minutes(5))) struct HeapTrimTests {
    /// Returns after which pieces of work, in mebibytes, a trim is due.
    private func trims(after work: [Int]) -> [Bool] {
        var trim = HeapTrim()
        return work.map { trim.isDue(after: $0 << 20) }
    }

    @Test func aTrimIsDueOnceWorkHasUsedTheAllowance() {
        #expect(trims(after: [7, 7, 7, 7, 7, 7]) == [false, false, false, false, true, false])
    }

    @Test func largeWorkIsFollowedByATrimEachTime() {
        #expect(trims(after: [32, 4, 900, 33]) == [true, false, true, true])
    }

    @Test func smallWorkDoesNotCount() {
        #expect(trims(after: Array(repeating: 3, count: 100) + [28, 4]).filter { $0 }.count == 1)
    }

    @Test func noAmountOfWorkIsTooMuch() {
        var trim = HeapTrim()
        let isDue = [4 << 20, .max].map { trim.isDue(after: $0) }
        #expect(isDue == [false, true])
    }
}
