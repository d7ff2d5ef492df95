import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A program that decodes in workers while they are killed at random: nothing may be wrong, hang or stay.
enum Storm {
    /// Decodes files over and over on several threads until so many workers were killed.
    ///
    /// - Returns: what was wrong; nil if nothing was.
    static func run(worker: String, kills: Int, files: [String]) throws -> String? {
        let before = try openFiles()
        let registry = CoderRegistry.standard()
        let expected = try files.map { file in
            let data = try Data(contentsOf: URL(filePath: file))
            return (data, try registry.decode(data).bitmap)
        }
        var workers: DecodeWorkers? = DecodeWorkers(count: 3, program: .file(worker))
        let problems = Lock<[String]>([])
        let remaining = Lock(kills)
        if let workers {
            let threads = (0..<4).map { index in
                Thread { [workers] in
                    var turn = index
                    while remaining.withLock({ $0 > 0 }) {
                        let (data, bitmap) = expected[turn % expected.count]
                        turn += 1
                        let problem = problem(of: data, bitmap, registry, workers)
                        if let problem { problems.withLock { $0.append(problem) } }
                    }
                }
            }
            try join(threads, whileKilling: workers, remaining)
        }
        workers = nil
        if let first = problems.withLock({ $0.first }) { return first }
        guard waitpid(-1, nil, WNOHANG) < 0, errno == ECHILD else { return "a process is left" }
        let after = try openFiles()
        return before == after ? nil : "descriptors: \(before) before, \(after) after"
    }

    private static func problem(
        of data: Data, _ expected: Bitmap, _ registry: CoderRegistry, _ workers: DecodeWorkers
    ) -> String? {
        do {
            let options = DecodeOptions(isolation: .isolated(workers: workers))
            let bitmap = try registry.decode(data, options: options).bitmap
            let isSame = bitmap.withPixels { pixels in
                expected.withPixels { $0.elementsEqual(pixels) }
            }
            return isSame ? nil : "a wrong image"
        } catch CodecError.stopped(_, .signal(SIGKILL)) {
            // Killed twice in a row.
            return nil
        } catch CodecError.isolationUnavailable(let reason) where reason.contains("before it began") {
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Kills children of this process until no kills remain, and waits for the threads.
    private static func join(_ threads: [Thread], whileKilling workers: DecodeWorkers, _ remaining: Lock<Int>) throws {
        for thread in threads { thread.start() }
        var random = SystemRandomNumberGenerator()
        while remaining.withLock({ $0 > 0 }) {
            if let child = try children().randomElement(using: &random), kill(child, SIGKILL) == 0 {
                remaining.withLock { $0 -= 1 }
            }
            // Long enough that some workers get to work.
            usleep(useconds_t(random.next() % 50_000))
        }
        while threads.contains(where: { !$0.isFinished }) { usleep(1000) }
    }

    private static func children() throws -> [pid_t] {
        // A thread that has just ended has no list any more.
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").flatMap { thread in
            let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/children", encoding: .utf8)
            return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
        }
    }

    private static func openFiles() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
