import HalcyonSystem
import Testing

@Suite struct PriorityTallyTests {
    @Test func theHighestIsThatOfAllWhoAreThere() {
        var tally = PriorityTally()
        #expect(tally.highest == nil)
        var there: [RequestPriority] = []
        for priority in [RequestPriority.normal, .veryLow, .high, .normal, .veryHigh, .low] {
            tally.add(priority)
            there.append(priority)
            #expect(tally.highest == there.max())
        }
        while let last = there.popLast() {
            tally.remove(last)
            #expect(tally.highest == there.max())
        }
    }
}
