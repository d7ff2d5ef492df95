import Foundation
import Glibc
import HalcyonSystem
import TestSupport

/// A pseudo-terminal with a person or a program at its other end, as a script says.
final class FakeTerminal: Sendable {
    /// An answer to something that the program has written.
    struct Reply: Sendable {
        let text: [UInt8]
        let answer: @Sendable (_ terminal: FakeTerminal) -> Void

        /// Types bytes once the program has written a text.
        static func type(_ bytes: String, after text: String) -> Reply {
            Reply(text: Array(text.utf8)) { $0.type(bytes) }
        }

        /// Types bytes once the program has asked its questions.
        static func answer(_ bytes: String) -> Reply { type(bytes, after: "\u{1B}[c") }

        static func run(after text: String, _ action: @escaping @Sendable (FakeTerminal) -> Void) -> Reply {
            Reply(text: Array(text.utf8), answer: action)
        }
    }

    private struct State {
        var output: [UInt8] = []
        /// The bytes of the output that replies have been given to.
        var answered = 0
        var replies: [Reply]
        var child: pid_t = 0
    }

    /// The path of the terminal for the program.
    let path: String
    private let master: Int32
    private let state: Lock<State>

    init(columns: Int, rows: Int, cell: (width: Int, height: Int)? = nil, replies: [Reply]) throws {
        // Swift's Glibc has neither posix_openpt nor the requests' names.
        let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard master >= 0 else { throw Spawn.Failure(call: "open", number: errno) }
        var (lock, number): (Int32, Int32) = (0, 0)
        guard ioctl(master, setLock, &lock) == 0, ioctl(master, getNumber, &number) == 0 else {
            throw Spawn.Failure(call: "ioctl", number: errno)
        }
        path = "/dev/pts/\(number)"
        var size = winsize()
        (size.ws_col, size.ws_row) = (UInt16(columns), UInt16(rows))
        if let cell { (size.ws_xpixel, size.ws_ypixel) = (UInt16(cell.width * columns), UInt16(cell.height * rows)) }
        guard ioctl(master, UInt(TIOCSWINSZ), &size) == 0 else { throw Spawn.Failure(call: "ioctl", number: errno) }
        state = Lock(State(replies: replies))
    }

    deinit {
        close(master)
    }

    /// The local settings: echo, whole lines, signals.
    var settings: tcflag_t {
        var settings = termios()
        tcgetattr(master, &settings)
        return settings.c_lflag
    }

    /// All that the program has written.
    var output: [UInt8] { state.withLock { $0.output } }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
    }

    /// Sends a signal to the program.
    func signal(_ number: Int32) {
        kill(state.withLock { $0.child }, number)
    }

    /// Runs a program with this terminal as its own, to its end.
    ///
    /// - Parameter errors: A file for its standard error; the terminal by default.
    /// - Returns: The exit status, or minus the signal that ended it.
    func run(
        _ executable: URL, _ arguments: [String], environment: [String: String], errors: URL? = nil
    ) async throws -> Int32 {
        let child = try Spawn.child(executable, arguments, environment: environment, newSession: true) { actions in
            // The first terminal that a new session opens is its own.
            posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
            if let errors {
                let file = errors.path(percentEncoded: false)
                posix_spawn_file_actions_addopen(&actions, 2, file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            } else {
                posix_spawn_file_actions_adddup2(&actions, 0, 2)
            }
        }
        state.withLock { $0.child = child }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                WorkerThread.start(name: "test-terminal") { [self] in
                    readToEnd()
                    Spawn.waitForEnd(of: child)
                    continuation.resume(returning: Spawn.reap(child) ?? 0)
                }
            }
        } onCancel: {
            kill(child, SIGKILL)
        }
    }

    /// Reads until no program has the terminal open any more.
    private func readToEnd() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = bytes.withUnsafeMutableBytes { read(master, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            take(bytes.prefix(count))
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        state.withLock { $0.output += bytes }
        while let reply = state.withLock(Self.nextReply) { reply.answer(self) }
    }

    private static func nextReply(_ state: inout State) -> Reply? {
        guard let reply = state.replies.first,
            let range = state.output[state.answered...].firstRange(of: reply.text)
        else { return nil }
        state.answered = range.upperBound
        state.replies.removeFirst()
        return reply
    }
}

extension Tool {
    /// Runs `halcyon show` on a terminal, with the folder's own cache.
    ///
    /// - Parameter errors: Whether standard error is the terminal as well; else it is a file.
    func show(
        _ arguments: [String], on terminal: FakeTerminal, environment extra: [String: String] = [:],
        errorsOnTerminal: Bool = false
    ) async throws -> (status: Int32, errors: String) {
        let errors = folder.appending(path: "streams/\(UUID().uuidString).err")
        let status = try await terminal.run(
            try Spawn.builtExecutable("halcyon"), ["show", "--cache", path("cache")] + arguments,
            environment: environment.merging(["TERM": "xterm-256color"]) { $1 }.merging(extra) { $1 },
            errors: errorsOnTerminal ? nil : errors)
        let text = errorsOnTerminal ? "" : String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        return (status, text)
    }

    /// Runs `halcyon show` into a file, with the folder's own cache.
    func show(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) async throws -> ToolResult {
        try await run(["show", "--cache", path("cache")] + arguments, input: input, environment: environment)
    }
}
