import Foundation
import TestSupport

@testable import CacheStress

/// A started `CacheStress`, its standard output a pipe. Everything here blocks: call it on a thread of one's own.
struct StressProcess: Sendable {
    let id: pid_t
    /// The pipe's end to read from.
    let output: Int32

    init(_ command: String, folder: URL, _ numbers: [Int]) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Spawn.Failure(call: "pipe", number: errno) }
        let (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(writing) }
        do {
            id = try Spawn.child(
                try Spawn.builtExecutable("CacheStress"),
                [command, folder.path(percentEncoded: false)] + numbers.map(String.init),
                environment: ["SWIFT_BACKTRACE": "enable=no"].merging(Self.inherited) { first, _ in first }
            ) { actions in
                posix_spawn_file_actions_adddup2(&actions, writing, 1)
            }
        } catch {
            close(reading)
            throw error
        }
        output = reading
    }

    /// Returns the process's whole output at its end. Kills the process as soon as there are so many lines.
    func readToEnd(killingAfter limit: Int = .max) -> Data {
        var all = Data()
        var lines = 0
        while let bytes = readSome(), !bytes.isEmpty {
            all += bytes
            let before = lines
            lines += bytes.count { $0 == UInt8(ascii: "\n") }
            if before < limit, lines >= limit { kill(id, SIGKILL) }
        }
        return all
    }

    /// Returns the available output, once there is some; empty at the process's end, nil when it cannot be read.
    func readSome() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(output, &buffer, buffer.count)
            if count >= 0 { return Data(buffer.prefix(count)) }
            if errno != EINTR { return nil }
        }
    }

    /// Waits for its end, once.
    ///
    /// - Returns: the exit status, or minus the signal that ended it.
    func wait() -> Int32 {
        close(output)
        return Spawn.reap(id) ?? 0
    }

    private static let inherited = ProcessInfo.processInfo.environment.filter { name, _ in
        ["PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"].contains(name)
    }
}
