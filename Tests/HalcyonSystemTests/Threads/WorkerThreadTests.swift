import Glibc
import HalcyonSystem
import Testing

/// Threads of our own have stacks on which codecs can work, whatever the caller's.
@Suite(.timeLimit(.minutes(5))) struct WorkerThreadTests {
    private struct Failure: Error {}

    /// Bytes of the calling thread's stack that are touched, 16 KiB a step, before `depth` is reached.
    private static func descend(_ depth: Int) -> Int {
        guard depth > 0 else { return 0 }
        return withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: depth))
            let rest = descend(depth - 1)
            return rest + (bytes[0] == UInt8(truncatingIfNeeded: depth) ? bytes.count : 0)
        }
    }

    @Test func aPoolsThreadsHaveTheStackThatCodecsNeed() async throws {
        let pool = ThreadPool(name: "deep", threads: 1)
        // 6 of 8 MiB.
        #expect(try await pool.run { _ in Self.descend(384) } == 6 << 20)
    }

    @Test func workThatGoesDeepIsLentAStack() throws {
        let steps = 3 << 10
        let touched = try WorkerThread.run(name: "deeper", stackSize: 64 << 20) { Self.descend(steps) }
        #expect(touched == 48 << 20)
        let name = try WorkerThread.run(name: "named", stackSize: 1 << 20) { threadName() }
        #expect(name == "named")
    }

    @Test func itsErrorComesBack() {
        #expect(throws: Failure.self) { try WorkerThread.run(name: "fails", stackSize: 1 << 20) { throw Failure() } }
    }

    @Test func withoutRoomForAStackNothingRuns() throws {
        var hasRun = false
        // More than there are addresses.
        #expect(try WorkerThread.run(name: "none", stackSize: 1 << 56) { hasRun = true } == nil)
        #expect(!hasRun)
    }
}
