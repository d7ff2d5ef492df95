import Foundation

/// Starting the programs that were built with the tests.
public enum Spawn {
    public struct Failure: Error {
        public let call: String
        public let number: Int32

        public init(call: String, number: Int32) {
            self.call = call
            self.number = number
        }
    }

    /// Starts a program that gets none of this process's descriptors but those that `prepare` gives it: a socket that it
    /// held would keep another test's connection open.
    ///
    /// - Parameter newSession: whether it leads a session of its own, which the first terminal that `prepare` opens belongs to,
    ///   and heeds the signals of a terminal even if this process ignores them, as one in the background does.
    public static func child(
        _ executable: URL, _ arguments: [String], environment: [String: String], newSession: Bool = false,
        prepare: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        prepare(&actions)
        try closeFrom(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if newSession { setSession(&attributes) }
        let path = executable.path(percentEncoded: false)
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var child: pid_t = 0
        let status = posix_spawn(&child, path, &actions, &attributes, &words, &variables)
        guard status == 0 else { throw Failure(call: "posix_spawn", number: status) }
        return child
    }

    /// Writes a script that can be executed at once.
    ///
    /// A shell writes it: if this process did, a child that another test starts just then would hold the file open for writing
    /// until it executes its own program, and the system executes no such file (`ETXTBSY`).
    public static func writeScript(_ script: String, to file: URL) throws {
        let command = "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\""
        let arguments = ["-c", command, "sh", script, file.path(percentEncoded: false)]
        let shell = try child(URL(filePath: "/bin/sh"), arguments, environment: ["PATH": "/usr/bin:/bin"]) { _ in }
        guard let status = reap(shell), status == 0 else { throw Failure(call: "writing a script", number: EIO) }
    }

    private static func setSession(_ attributes: inout posix_spawnattr_t) {
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // POSIX_SPAWN_SETSID, which Swift's Glibc module hides.
        let session: Int32 = 0x80
        posix_spawnattr_setflags(&attributes, Int16(session | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    }

    /// The end of a child: its exit status, or minus the signal that ended it. Nil where it runs on and `options` say not
    /// to wait, or where it is not a child of any process any more.
    public static func reap(_ child: pid_t, options: Int32 = 0) -> Int32? {
        var status: Int32 = 0
        var found = waitpid(child, &status, options)
        while found < 0, errno == EINTR { found = waitpid(child, &status, options) }
        guard found == child else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
    }

    /// Waits for a child's end and leaves it to be reaped, so that until then its number is not given to another process.
    public static func waitForEnd(of child: pid_t) {
        var information = siginfo_t()
        while waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    /// The executable that was built with these tests: in the test bundle's folder or one above.
    public static func builtExecutable(_ name: String) throws -> URL {
        let starts = [Bundle.main.executableURL, CommandLine.arguments.first.map { URL(filePath: $0) }]
        for start in starts.compactMap({ $0?.resolvingSymlinksInPath() }) {
            var folder = start
            while folder.path(percentEncoded: false).count > 1 {
                folder.deleteLastPathComponent()
                let candidate = folder.appending(path: name, directoryHint: .notDirectory)
                let path = candidate.path(percentEncoded: false)
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
                    FileManager.default.isExecutableFile(atPath: path)
                {
                    return candidate
                }
            }
        }
        throw Failure(call: "the executable \(name), nowhere above the tests", number: ENOENT)
    }

    /// Glibc has it, its Swift module hides it.
    private static let closeFrom: @Sendable (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) throws -> Void = {
        typealias Function = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        let name = "posix_spawn_file_actions_addclosefrom_np"
        guard let symbol = dlsym(nil, name) else { throw Failure(call: name, number: ENOSYS) }
        let status = unsafeBitCast(symbol, to: Function.self)($0, $1)
        guard status == 0 else { throw Failure(call: name, number: status) }
    }
}
