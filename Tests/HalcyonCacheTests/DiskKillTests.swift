import Foundation
import HalcyonSystem
import TestSupport
import Testing

@testable import CacheStress
@testable import HalcyonCache

/// Processes that are killed in the midst of their work, one after the other in one folder.
@Suite(.timeLimit(.minutes(15)))
struct DiskKillTests {
    /// `HALCYON_SOAK` runs the full count.
    static let kills = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 10 : 1000

    private let threads = ThreadPool(name: "test-kill", threads: 1)

    /// A limit that all keys together stay far below, and one that they exceed.
    @Test(arguments: [(1 << 30, false), (200_000, true)])
    func confirmedWritesSurviveKill(sizeLimit: Int, isTight: Bool) async throws {
        let folder = PipelineFixture.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = SplitMix(state: isTight ? 7 : 8)
        var model = KillModel(isTight: isTight)
        var leftovers = 0
        for number in 1...Self.kills {
            let (numbers, lines) = Self.plan(number, sizeLimit: sizeLimit, &random)
            model = try await threads.run { [model] _ in
                let child = try StressProcess("kill", folder: folder, numbers)
                let output = child.readToEnd(killingAfter: lines)
                #expect(child.wait() == -SIGKILL, "kill \(number): \(numbers)")
                var model = model
                model.take(output)
                model.check(DiskCache(folder: folder, configuration: .init(sizeLimit: sizeLimit)))
                return model
            }
            try #require(model.problems.isEmpty, "kill \(number), \(numbers): \(model.problems.prefix(5))")
            guard number.isMultiple(of: 10) else { continue }
            leftovers += try await sweep(folder, sizeLimit: sizeLimit)
        }
        #expect(model.confirmations > 0)
        #expect(model.checked > 0)
        print(
            "\(Self.kills) kills, limit \(sizeLimit): \(model.confirmations) confirmations, \(model.checked) confirmed",
            "entries read back, \(model.whole) unconfirmed ones whole, \(model.problems.count) wrong,",
            "\(leftovers) temporary files swept, ended in", model.deaths.sorted { $0.key < $1.key })
    }

    /// The three ways to end a process: in a call of the file system, after some microseconds, or after a number of messages.
    private static func plan(_ number: Int, sizeLimit: Int, _ random: inout SplitMix) -> (numbers: [Int], lines: Int) {
        let calls: [FileOperation] = [.write, .rename, .unlink, .setTimes, .open, .close, .status, .read, .list]
        let (call, isBefore) = (calls.randomElement(using: &random), Int.random(in: 0...1, using: &random))
        let count = Int.random(in: 1...(call == .unlink ? 12 : 80), using: &random)
        let microseconds = Int.random(in: 100...25_000, using: &random)
        let lines = Int.random(in: 1...250, using: &random)
        let kind = call.flatMap { FileOperation.allCases.firstIndex(of: $0) } ?? 0
        // More operations than any of them gets to make.
        let start = [number, sizeLimit, 100_000]
        switch number % 3 {
        case 0: return (start + [kind, count, isBefore, 0], .max)
        case 1: return (start + [-1, 0, 0, microseconds], .max)
        default: return (start + [-1, 0, 0, 0], lines)
        }
    }

    /// Half-written files of killed processes stay while those processes could still be writing them, and no longer; sizes add
    /// up.
    ///
    /// - Returns: The number of half-written files.
    private func sweep(_ folder: URL, sizeLimit: Int) async throws -> Int {
        let before = StressFolder(folder)
        let now = DiskCache(folder: folder, configuration: .init(sizeLimit: sizeLimit))
        await now.removeExpired()
        #expect(StressFolder(folder).temporaries == before.temporaries)
        let later = DiskCache(
            folder: folder, configuration: .init(sizeLimit: sizeLimit),
            timeSource: TimeSource { Date().addingTimeInterval(4000) })
        await later.removeExpired()
        let after = StressFolder(folder)
        #expect(after.temporaries == 0)
        #expect(after.entries == before.entries)
        #expect(await later.size() == after.bytes)
        #expect(later.estimatedSize == after.bytes)
        return before.temporaries
    }
}
