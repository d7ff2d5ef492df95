import Foundation
import Glibc
import HalcyonSystem
import TestSupport

/// Runs a program to its end, its three streams files.
///
/// Files and no pipes, so that neither side ever waits for the other to read. The child gets no other descriptor of
/// this process: a socket that it held would keep another test's connection open.
struct ChildProcess: Sendable {
    let executable: URL
    let arguments: [String]
    let environment: [String: String]

    /// Waits for the end; kills the child when the task is cancelled.
    ///
    /// - Returns: the exit status, or minus the signal that ended it.
    func run(input: URL, output: URL, errors: URL) async throws -> Int32 {
        let child = try spawn(input: input, output: output, errors: errors)
        // Nil once it has been waited for: its number may be another's from then on.
        let running = Lock<pid_t?>(child)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                WorkerThread.start(name: "test-wait") {
                    Spawn.waitForEnd(of: child)
                    running.withLock { $0 = nil }
                    continuation.resume(returning: Spawn.reap(child) ?? 0)
                }
            }
        } onCancel: {
            running.withLock { child in
                if let child { kill(child, SIGKILL) }
            }
        }
    }

    private func spawn(input: URL, output: URL, errors: URL) throws -> pid_t {
        let writing = O_WRONLY | O_CREAT | O_TRUNC
        return try Spawn.child(executable, arguments, environment: environment) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, Self.path(input), O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, Self.path(output), writing, 0o600)
            posix_spawn_file_actions_addopen(&actions, 2, Self.path(errors), writing, 0o600)
        }
    }

    private static func path(_ url: URL) -> String { url.path(percentEncoded: false) }
}
