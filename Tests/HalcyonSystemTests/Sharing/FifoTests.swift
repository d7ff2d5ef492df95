import HalcyonSystem
import Testing

@Suite struct FifoTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func fifoBehavesLikeArray(seed: UInt64) {
        var chance = FixedChance(state: seed)
        var (fifo, model) = (Fifo<Int>(), [Int]())
        for step in 0..<4000 {
            // Grows in the first half, shrinks in the second, so that the dead front is given back.
            if chance.next() % 8 < (step < 2000 ? 5 : 3) {
                fifo.append(step)
                model.append(step)
            } else {
                #expect(fifo.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(fifo.count == model.count)
            #expect(fifo.isEmpty == model.isEmpty)
            #expect(fifo.first == model.first)
        }
        while let element = fifo.popFirst() { #expect(element == model.removeFirst()) }
        #expect(model.isEmpty)
        #expect(fifo.isEmpty && fifo.first == nil)
    }

    @Test func poppedElementIsReleased() {
        final class Thing {}
        var fifo = Fifo<Thing>()
        fifo.append(Thing())
        fifo.append(Thing())
        weak let first = fifo.first
        #expect(first != nil)
        _ = fifo.popFirst()
        #expect(first == nil)
        #expect(fifo.count == 1)
    }

    @Test func copiesAreValues() {
        var one = Fifo<Int>()
        one.append(1)
        var other = one
        other.append(2)
        #expect(one.popFirst() == 1)
        #expect(one.isEmpty)
        #expect(other.count == 2)
    }
}

/// Chance that is the same in every run (SplitMix64).
private struct FixedChance {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

@Suite struct FifoEndsTests {
    @Test func fifoPopsAtBothEndsLikeArray() {
        var (fifo, model) = (Fifo<Int>(), [Int]())
        for step in 0..<2_000 {
            switch (step &* 7 + step / 13) % 5 {
            case 0, 1, 2:
                fifo.append(step)
                model.append(step)
            case 3:
                #expect(fifo.last == model.last)
                #expect(fifo.popLast() == model.popLast())
            default:
                #expect(fifo.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(fifo.count == model.count)
        }
        while let last = fifo.popLast() { #expect(last == model.popLast()) }
        #expect(model.isEmpty)
        #expect(fifo.isEmpty)
    }
}
