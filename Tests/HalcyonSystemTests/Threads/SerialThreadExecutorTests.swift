import HalcyonSystem
import Testing

@Suite(.timeLimit(.minutes(5))) struct SerialThreadExecutorTests {
    /// An actor that lives on a thread of its own.
    private actor Resident {
        nonisolated let executor: SerialThreadExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private(set) var notes: [Int] = []

        init(_ executor: SerialThreadExecutor) { self.executor = executor }

        var place: String { threadName() }
        var isHome: Bool { executor.isCurrent }

        func note(_ number: Int) { notes.append(number) }

        /// Leaves the actor and comes back.
        func isHomeAfterLeaving() async -> Bool {
            await Task.detached {}.value
            return executor.isCurrent
        }
    }

    /// Runs tasks on a pool, as a task executor preference may ask for.
    private final class PoolExecutor: TaskExecutor {
        let pool = ThreadPool(name: "preferred", threads: 1)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let executor = asUnownedTaskExecutor()
            pool.submit { job.runSynchronously(on: executor) }
        }
    }

    @Test func anActorStaysOnItsThread() async {
        let resident = Resident(SerialThreadExecutor(name: "resident"))
        #expect(!resident.executor.isCurrent)
        for _ in 0..<10 {
            #expect(await resident.place == "resident")
            #expect(await resident.isHome)
        }
        #expect(await resident.isHomeAfterLeaving())
    }

    @Test func anActorStaysOnItsThreadUnderATaskExecutorPreference() async {
        let resident = Resident(SerialThreadExecutor(name: "resident"))
        let (before, places, after) = await withTaskExecutorPreference(PoolExecutor()) {
            let before = threadName()
            let places = [await resident.place, await resident.isHomeAfterLeaving() ? await resident.place : ""]
            return (before, places, threadName())
        }
        #expect(before == "preferred-0" && after == "preferred-0")
        #expect(places == ["resident", "resident"])
    }

    @Test func submittedWorkRunsInItsOrder() async {
        let executor = SerialThreadExecutor(name: "ordered")
        let (numbers, done) = (Lock<[Int]>([]), Gate())
        for number in 0..<1000 { executor.submit { numbers.withLock { $0.append(number) } } }
        executor.submit { done.open() }
        await done.opened()
        #expect(numbers.withLock { $0 } == Array(0..<1000))
    }

    @Test func submittedWorkIsIsolatedToTheActor() async {
        let resident = Resident(SerialThreadExecutor(name: "isolated"))
        for number in 0..<100 {
            resident.executor.submit { resident.assumeIsolated { $0.note(number) } }
        }
        // An actor's job that comes later sees all of it.
        #expect(await resident.notes == Array(0..<100))
    }

    @Test func actorsCanShareAThread() async {
        let executor = SerialThreadExecutor(name: "shared")
        let (one, other) = (Resident(executor), Resident(executor))
        #expect(await one.place == "shared")
        #expect(await other.place == "shared")
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask { await one.note(number) }
                group.addTask { await other.note(number) }
            }
        }
        #expect(await one.notes.sorted() == Array(0..<200))
        #expect(await other.notes.sorted() == Array(0..<200))
    }

    @Test func queuedWorkRunsAfterExecutorIsReleased() async {
        let (count, done, gate) = (Lock(0), Gate(), Gate())
        do {
            let executor = SerialThreadExecutor(name: "gone")
            executor.submit { gate.block() }
            for _ in 0..<99 { executor.submit { count.withLock { $0 += 1 } } }
            executor.submit { done.open() }
        }
        gate.open()
        await done.opened()
        #expect(count.withLock { $0 } == 99)
    }

    @Test func anActorThatEndsOnItsThreadTakesTheThreadAlong() async {
        for _ in 0..<50 {
            // The last reference is often let go by the last job.
            let resident = Resident(SerialThreadExecutor(name: "brief"))
            Task { await resident.note(1) }
            await resident.note(2)
        }
    }
}
