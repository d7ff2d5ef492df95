import Foundation
import HalcyonSystem
import Testing

@Suite struct ProcessorTimeTests {
    /// Decode workers have a limit on their time, with which the kernel counts it by ticks for the clock of the process.
    @Test func shortWorkCountsInAProcessWithALimit() throws {
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit) == 0)
        defer { setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit) }
        var hours = rlimit(rlim_cur: min(limit.rlim_max, 100_000), rlim_max: limit.rlim_max)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &hours) == 0)
        for _ in 0..<20 {
            let (thread, process) = (ProcessorTime.ofThread, ProcessorTime.ofProcess)
            while ProcessorTime.ofThread - thread < .microseconds(300) {}
            #expect(ProcessorTime.ofProcess > process)
        }
    }
}
