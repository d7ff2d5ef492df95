import Foundation
import Halcyon
import HalcyonCache
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ExitHookTests {
    /// Enough that writing it takes longer than ending.
    private static let count = 400

    private static func fill(_ path: String, signals: Set<Int32>) async -> ImageCache {
        let disk = DiskCache(folder: URL(filePath: path), configuration: .init(sizeLimit: 1 << 30))
        let cache = ImageCache(disk: disk)
        cache.shutDownAtExit(within: .seconds(240), signals: signals)
        for number in 0..<count {
            await disk.stage(Data(count: 64 << 10), for: CacheKey("\(number)".utf8))
        }
        return cache
    }

    private func check(_ folder: URL) async throws {
        let disk = DiskCache(folder: folder)
        #expect(await disk.count() == Self.count)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func stagedEntriesAreWrittenAtExit() async throws {
        let folder = PipelineFixture.temporaryFolder()
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            let cache = await Self.fill(path, signals: [])
            withExtendedLifetime(cache) { exit(0) }
        }
        try await check(folder)
    }

    @Test func signalWritesStagedEntriesThenTerminates() async throws {
        let folder = PipelineFixture.temporaryFolder()
        await #expect(processExitsWith: .signal(SIGTERM)) { [path = folder.path as String] in
            let cache = await Self.fill(path, signals: [SIGTERM])
            kill(getpid(), SIGTERM)
            try? await Task.sleep(for: .seconds(280))
            withExtendedLifetime(cache) {}
        }
        try await check(folder)
    }

    @Test func aSignalThatIsIgnoredStaysSo() async {
        await #expect(processExitsWith: .exitCode(7)) {
            signal(SIGHUP, SIG_IGN)
            let cache = ImageCache(disk: nil)
            cache.shutDownAtExit(signals: [SIGHUP])
            kill(getpid(), SIGHUP)
            withExtendedLifetime(cache) { exit(7) }
        }
    }

    /// Not even where it comes before any other thread has run.
    @Test func aSignalThatComesAtOnceIsNotLost() async throws {
        let folder = PipelineFixture.temporaryFolder()
        await #expect(processExitsWith: .signal(SIGINT)) { [path = folder.path as String] in
            let cache = ImageCache(disk: DiskCache(folder: URL(filePath: path)))
            cache.shutDownAtExit(within: .seconds(240), signals: [SIGINT, SIGKILL, -1, 0, 65, .max])
            kill(getpid(), SIGINT)
            try? await Task.sleep(for: .seconds(280))
            withExtendedLifetime(cache) {}
        }
        try? FileManager.default.removeItem(at: folder)
    }
}
