import HalcyonSystem
import Testing

@Suite(.timeLimit(.minutes(5))) struct LockTests {
    @Test func eightThreadsLoseNothing() async {
        let lock = Lock((count: 0, names: Set<String>()))
        let (left, done) = (Lock(8), Gate())
        for thread in 0..<8 {
            WorkerThread.startOrBorrow(name: "lock-\(thread)") {
                for _ in 0..<20_000 { lock.withLock { $0.count += 1 } }
                let name = threadName()
                lock.withLock { _ = $0.names.insert(name) }
                if left.withLock({
                    $0 -= 1
                    return $0 == 0
                }) {
                    done.open()
                }
            }
        }
        await done.opened()
        #expect(lock.withLock { $0.count } == 160_000)
        #expect(lock.withLock { $0.names } == Set((0..<8).map { "lock-\($0)" }))
    }

    @Test func anErrorLeavesItUnlocked() {
        struct Failure: Error {}
        let lock = Lock(1)
        #expect(throws: Failure.self) {
            try lock.withLock { value in
                value = 2
                throw Failure()
            }
        }
        #expect(lock.withLock { $0 } == 2)
    }

    @Test func lockReleasesItsState() {
        final class Thing {}
        weak var thing: Thing?
        do {
            let lock = Lock(Thing())
            thing = lock.withLock { $0 }
            #expect(thing != nil)
        }
        #expect(thing == nil)
    }

    @Test func threadNamesAreCutToWhatTheKernelKeeps() async {
        let (name, done) = (Lock(""), Gate())
        WorkerThread.startOrBorrow(name: "a name that is much too long") {
            name.withLock { $0 = threadName() }
            done.open()
        }
        await done.opened()
        #expect(name.withLock { $0 } == "a name that is ")
    }
}
