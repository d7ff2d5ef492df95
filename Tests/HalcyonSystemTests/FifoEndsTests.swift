import HalcyonSystem
import Testing

@Suite struct FifoEndsTests {
    @Test func bothEndsGiveWhatAnArrayGives() {
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
