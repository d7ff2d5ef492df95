import Foundation
import HalcyonImage
import HalcyonSystem

/// The kinds of workers, by what they read before they give up their rights.
enum WorkerKind: String {
    /// Nothing but the settings of the libraries.
    case plain
    /// Fonts, of which they may read more later: for drawings.
    case fonts
    /// The loaders of the system: for the formats that nothing else reads.
    case loaders

    init(for format: ImageFormat) {
        self = format == .svg ? .fonts : FormatProduct.ofLoaders.contains(format) ? .loaders : .plain
    }
}

/// The program of a worker and the way in which it is started.
struct WorkerLaunch {
    /// The names of the variables by which a worker knows what it is.
    enum Variable {
        /// Set in a worker: its `WorkerKind`.
        static let role = "HALCYON_DECODE_WORKER_ROLE"
        /// Set in a worker that does without Landlock, which shows in tests that the list of system calls holds alone.
        static let withoutLandlock = "HALCYON_DECODE_WORKER_WITHOUT_LANDLOCK"
        /// Set by users: the path of the program.
        static let program = "HALCYON_DECODE_WORKER"
    }

    /// The descriptors of a worker.
    enum Descriptor {
        static let channel: Int32 = 3
        static let arena: Int32 = 4
    }

    /// The variables of this process that a worker gets: those that lead to libraries, loaders, fonts and the settings of sanitizers.
    private static let passed = [
        "LD_LIBRARY_PATH", "GDK_PIXBUF_MODULE_FILE", "LANG", "LC_ALL", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME",
        "XDG_DATA_DIRS",
        "FONTCONFIG_FILE", "FONTCONFIG_PATH", "FONTCONFIG_SYSROOT", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
        "UBSAN_OPTIONS",
    ]

    let path: String
    let kind: WorkerKind
    let usesLandlock: Bool

    /// Starts the process. It has no descriptor of this one but its channel and the memory that they share.
    ///
    /// Never a fork: a copy of a process with threads may not even allocate memory.
    ///
    /// - Throws: `CodecError.isolationUnavailable`.
    func start(channel: Int32, arena: Int32) throws -> pid_t {
        // Beyond the numbers that they get, so that none is replaced before it is copied.
        let copies = [channel, arena].map { fcntl($0, F_DUPFD_CLOEXEC, 16) }
        defer { for file in copies where file >= 0 { close(file) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for standard in 0...2 as ClosedRange<Int32> {
            posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", standard == 0 ? O_RDONLY : O_WRONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, copies[0], Descriptor.channel)
        posix_spawn_file_actions_adddup2(&actions, copies[1], Descriptor.arena)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.setSignals(&attributes)

        var words = [strdup(path), nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var id: pid_t = 0
        let status = posix_spawn(&id, path, &actions, &attributes, &words, &variables)
        guard status == 0 else {
            throw CodecError.isolationUnavailable(
                "the decode worker \(path) cannot be started: \(String(cString: strerror(status)))")
        }
        return id
    }

    /// All signals have their own effect, and those of a terminal do not reach a worker: the program decides when it ends.
    private static func setSignals(_ attributes: inout posix_spawnattr_t) {
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // POSIX_SPAWN_SETSID, which Swift's Glibc module hides.
        let session: Int32 = 0x80
        posix_spawnattr_setflags(&attributes, Int16(session | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    }

    private var environment: [String] {
        let kept = Self.passed.compactMap { name in SecureVariable.value(of: name).map { "\(name)=\($0)" } }
        let role = "\(Variable.role)=\(kind.rawValue)"
        // The C library's cache of small blocks hands them out as they are, with what an earlier file has left in them.
        let heap = kind == .loaders ? ["GLIBC_TUNABLES=glibc.malloc.tcache_count=0"] : []
        return kept + heap + [role] + (usesLandlock ? [] : ["\(Variable.withoutLandlock)=1"])
    }
}

extension WorkerLaunch {
    /// Finds the program of the workers.
    ///
    /// - Throws: `CodecError.isolationUnavailable` if there is none.
    static func path(of program: DecodeWorkers.Program) throws -> String {
        switch program {
        case .file(let path): return path
        case .itself:
            guard DecodeWorker.isOffered else {
                throw CodecError.isolationUnavailable("the program does not begin with DecodeWorker.runIfAsked()")
            }
            return try ownPath()
        case .automatic:
            if let path = SecureVariable.value(of: Variable.program) { return path }
            if let path = try installedPaths().first(where: { access($0, X_OK) == 0 }) { return path }
            guard DecodeWorker.isOffered else {
                throw CodecError.isolationUnavailable(
                    "there is no program halcyon-decode-worker beside this one, and this one does not begin with "
                        + "DecodeWorker.runIfAsked()")
            }
            return try ownPath()
        }
    }

    /// The places of the program, the first of which counts.
    private static func installedPaths() throws -> [String] {
        let folder = URL(filePath: try ownPath()).deletingLastPathComponent()
        return [
            "halcyon-decode-worker", "../libexec/halcyon-decode-worker", "../libexec/halcyon/halcyon-decode-worker",
        ].map {
            folder.appending(path: $0).standardizedFileURL.path(percentEncoded: false)
        }
    }

    private static func ownPath() throws -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
        }
        guard count > 0 else {
            throw CodecError.isolationUnavailable(
                "the path of the program is not known: \(String(cString: strerror(errno)))")
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
