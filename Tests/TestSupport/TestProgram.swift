import Foundation
import Glibc
import HalcyonSystem

/// A program that runs beside the tests.
///
/// Not Foundation's `Process`: while it looks for open descriptors it copies entries of a folder beyond the end of what
/// was read, which ends the tests now and then when many are open.
public final class TestProgram: Sendable {
    private struct State {
        /// Nil once it has been waited for: its number may be another's from then on.
        var id: pid_t?
        /// The exit status, or minus the signal that ended it.
        var status: Int32?
    }

    private let id: pid_t
    private let state: Lock<State>
    /// The program's standard output, if it was requested.
    public let output: FileHandle?

    /// - Parameters:
    ///   - folder: where it runs; nil for here.
    ///   - environment: variables beside those of this process.
    ///   - hasOutput: whether its standard output is to be read; it and the errors go nowhere else.
    public init(
        _ executable: URL, _ arguments: [String], in folder: URL? = nil, environment: [String: String] = [:],
        hasOutput: Bool = false
    ) throws {
        var ends: [Int32] = [-1, -1]
        if hasOutput, pipe(&ends) != 0 { throw Spawn.Failure(call: "pipe", number: errno) }
        for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let writing = ends[1]
        output = hasOutput ? FileHandle(fileDescriptor: ends[0], closeOnDealloc: true) : nil
        defer { if hasOutput { close(writing) } }
        let path = executable.path(percentEncoded: false)
        let placed = folder.map { ["-C", $0.path(percentEncoded: false), path] + arguments }
        id = try Spawn.child(
            placed == nil ? executable : URL(filePath: "/usr/bin/env"), placed ?? arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }
        ) { actions in
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            if hasOutput {
                posix_spawn_file_actions_adddup2(&actions, writing, 1)
            } else {
                posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
            }
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        state = Lock(State(id: id))
    }

    public var isRunning: Bool {
        state.withLock { state in
            Self.reap(&state, options: WNOHANG)
            return state.status == nil
        }
    }

    /// By a signal that no mask holds back, as a child of one of Dispatch's threads inherits theirs.
    public func kill() {
        state.withLock { state in
            if let id = state.id { _ = Glibc.kill(id, SIGKILL) }
        }
    }

    /// Kills it and waits for its end, which is at once.
    public func stop() {
        kill()
        state.withLock { Self.reap(&$0, options: 0) }
    }

    /// The exit status, or minus the signal that ended it. The wait is on a thread of its own: it would block one of the few
    /// that all tests run on.
    public func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            WorkerThread.start(name: "test-program") { [self] in
                Spawn.waitForEnd(of: id)
                continuation.resume(
                    returning: state.withLock { state in
                        Self.reap(&state, options: 0)
                        return state.status ?? 0
                    })
            }
        }
    }

    private static func reap(_ state: inout State, options: Int32) {
        guard let id = state.id, let status = Spawn.reap(id, options: options) else { return }
        state = State(id: nil, status: status)
    }
}
