import Testing

@testable import HalcyonSystem

@Suite(.timeLimit(.minutes(5)))
struct DeliveryQueueTests {
    @Test func valuesComeInOrderOnceTheyAreDelivered() {
        let received = Lock<[Int]>([])
        let queue = DeliveryQueue<Int> { value in received.withLock { $0.append(value) } }
        queue.add(1)
        queue.add(2)
        #expect(received.withLock { $0 } == [])
        queue.deliver()
        queue.deliver()
        #expect(received.withLock { $0 } == [1, 2])
    }

    /// The value comes behind the one that its receiver is at, not in the middle of it.
    @Test func aReceiverMayAddAndDeliver() {
        let received = Lock<[Int]>([])
        let queue = Lock<DeliveryQueue<Int>?>(nil)
        let made = DeliveryQueue<Int> { value in
            if value < 3, let queue = queue.withLock({ $0 }) {
                queue.add(value + 1)
                queue.deliver()
            }
            received.withLock { $0.append(value) }
        }
        queue.withLock { $0 = made }
        made.add(1)
        made.deliver()
        #expect(received.withLock { $0 } == [1, 2, 3])
        queue.withLock { $0 = nil }
    }

    @Test func aReceiverOfTheLatestIsNotToldWhatIsSuperseded() {
        let received = Lock<[Int]>([])
        let queue = DeliveryQueue<Int> { value in received.withLock { $0.append(value) } }
        #expect(queue.replace(with: 1))
        #expect(!queue.replace(with: 2))
        queue.deliver()
        #expect(queue.replace(with: 3))
        queue.deliver()
        #expect(received.withLock { $0 } == [2, 3])
    }

    @Test func aClosedQueueDeliversNothing() {
        let received = Lock<[Int]>([])
        let queue = DeliveryQueue<Int> { value in received.withLock { $0.append(value) } }
        queue.add(1)
        queue.close()
        queue.add(2)
        #expect(!queue.replace(with: 3))
        queue.deliver()
        #expect(received.withLock { $0 } == [])
    }

    @Test func concurrentDeliveriesAreSerialAndComplete() async {
        let (isBusy, received) = (Lock(false), Lock<[Int]>([]))
        let overlaps = Lock(0)
        let queue = DeliveryQueue<Int> { value in
            if isBusy.withLock({ busy in
                defer { busy = true }; return busy
            }) {
                overlaps.withLock { $0 += 1 }
            }
            received.withLock { $0.append(value) }
            isBusy.withLock { $0 = false }
        }
        let next = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        // Numbered and added under one lock, as an owner does.
                        next.withLock { number in
                            queue.add(number)
                            number += 1
                        }
                        queue.deliver()
                    }
                }
            }
        }
        #expect(received.withLock { $0 } == Array(0..<8_000))
        #expect(overlaps.withLock { $0 } == 0)
    }
}
