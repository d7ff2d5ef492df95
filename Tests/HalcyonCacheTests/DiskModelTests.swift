import Foundation
import HalcyonSystem
import Testing

@testable import CacheStress
@testable import HalcyonCache

/// Random operations on several threads against one cache, each compared with what must be.
@Suite(.timeLimit(.minutes(15)))
struct DiskModelTests {
    /// `HALCYON_SOAK` runs the full count.
    private let operations = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 1000 : 100_000
    private let threadCount = 8

    @Test func aCacheOnEightThreadsIsWhatTheModelSays() async throws {
        let run = ModelRun()
        let threads = ThreadPool(name: "test-model", threads: threadCount)
        let perThread = operations / threadCount
        let workers = try await withThrowingTaskGroup { group in
            for number in 1...threadCount {
                group.addTask {
                    try await threads.run { _ in
                        var worker = ModelWorker(run, number: number)
                        worker.work(operations: perThread)
                        return worker
                    }
                }
            }
            return try await group.reduce(into: [ModelWorker]()) { $0.append($1) }
        }
        await run.cache.flush()
        let other = run.fixture.secondCache()
        try await threads.run { _ in
            for worker in workers { worker.checkAll(other) }
            for key in 0..<ModelRun.sharedKeys {
                run.read(shared: key) {
                    other.entrySynchronously(for: StressContent.key(ModelRun.number(ofShared: key)))
                }
            }
        }
        let problems = run.problems
        #expect(problems.isEmpty, "\(problems.count): \(problems.prefix(10))")
        let statistics = run.cache.statistics
        #expect(statistics.damaged == 0)
        #expect(statistics.failedWrites == 0)
        #expect(statistics.stagedBytes == 0)
        #expect(await run.cache.size() == StressFolder(run.fixture.folder).bytes)
        #expect(run.cache.estimatedSize == StressFolder(run.fixture.folder).bytes)
        print(
            "\(perThread * threadCount) operations on \(threadCount) threads, \(problems.count) wrong:",
            "\(statistics.writes) files written, \(statistics.hits) hits, \(statistics.misses) misses")
    }
}
