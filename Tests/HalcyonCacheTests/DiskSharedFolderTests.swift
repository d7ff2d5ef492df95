import Foundation
import HalcyonSystem
import TestSupport
import Testing

@testable import CacheStress
@testable import HalcyonCache

/// Four processes at work in one folder.
@Suite(.timeLimit(.minutes(10)))
struct DiskSharedFolderTests {
    /// How long they work, and how much faster than the true time their caches' clocks run.
    private struct Plan {
        let milliseconds: Int
        let speed: Int
        let sizeLimit: Int
        /// The bytes that each process writes in a second at most.
        let bytesPerSecond = 4_000_000

        /// The bytes that four processes write between two sweeps, 5 s of the caches' clocks apart and up to a second late.
        var allowance: Int { Int(4 * Double(bytesPerSecond) * (5 / Double(speed) + 1)) }

        /// `HALCYON_SOAK` runs the full time.
        static let current =
            ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil
            ? Plan(milliseconds: 3000, speed: 20, sizeLimit: 10_000_000)
            : Plan(milliseconds: 60_000, speed: 1, sizeLimit: 64_000_000)
    }

    private struct Outcome: Sendable {
        var highest = 0
        var samples = 0
        var statuses: [Int32] = []
        var outputs: [Data] = []
    }

    private let threads = ThreadPool(name: "test-shared", threads: 1)

    @Test func fourProcessesHoldTheLimitAndReadNothingWrong() async throws {
        let folder = PipelineFixture.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let plan = Plan.current
        let outcome = try await threads.run { _ in try Self.watch(folder, plan) }
        #expect(outcome.statuses == [0, 0, 0, 0])
        var (operations, hits, bytes) = (0, 0, 0)
        for output in outcome.outputs {
            let reports = StressReport.lines(output).map { StressReport($0) }
            guard reports.count == 1, case .finished(let figures) = reports[0], figures.count == 3 else {
                Issue.record("\(String(decoding: output.prefix(500), as: UTF8.self))")
                continue
            }
            operations += figures[0]
            hits += figures[1]
            bytes += figures[2]
        }
        #expect(operations > 0)
        #expect(outcome.highest <= plan.sizeLimit + plan.allowance)
        print(
            "four processes, \(plan.milliseconds) ms: \(operations) operations, \(hits) hits, \(bytes) bytes written,",
            "limit \(plan.sizeLimit), highest of \(outcome.samples) sizes \(outcome.highest),",
            "\(outcome.highest - plan.sizeLimit) over the limit, allowed \(plan.allowance)")
        let later = DiskCache(
            folder: folder, configuration: .init(sizeLimit: plan.sizeLimit),
            timeSource: TimeSource { Date().addingTimeInterval(5000) })
        await later.removeExpired()
        #expect(StressFolder(folder).temporaries == 0)
        #expect(await later.size() == StressFolder(folder).bytes)
    }

    /// Looks at the folder again and again, until all four have ended. Blocks.
    private static func watch(_ folder: URL, _ plan: Plan) throws -> Outcome {
        let start = Int(Date().timeIntervalSince1970 * 1000)
        let children = try (1...4).map { seed in
            try StressProcess(
                "mixed", folder: folder,
                [seed, plan.sizeLimit, plan.milliseconds, plan.bytesPerSecond, start, plan.speed])
        }
        var outcome = Outcome(outputs: Array(repeating: Data(), count: children.count))
        var open = Set(children.indices)
        while !open.isEmpty {
            var ends = children.map { pollfd(fd: $0.output, events: Int16(POLLIN), revents: 0) }
            for index in children.indices where !open.contains(index) { ends[index].fd = -1 }
            // They say nothing until their end, or until something is wrong: until then a look every 20 ms.
            poll(&ends, nfds_t(ends.count), 20)
            for index in open where ends[index].revents != 0 {
                let bytes = children[index].readSome() ?? Data()
                outcome.outputs[index] += bytes
                if bytes.isEmpty { open.remove(index) }
            }
            outcome.highest = max(outcome.highest, StressFolder(folder).bytes)
            outcome.samples += 1
        }
        outcome.statuses = children.map { $0.wait() }
        return outcome
    }
}
