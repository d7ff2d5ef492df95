import Foundation
import Glibc
import HalcyonSystem

/// A writer of files that appear under their name only when they are whole.
///
/// The bytes go to a temporary file beside the output, which is then renamed. Temporary files that are there when a signal ends
/// the program are removed first.
enum AtomicFile {
    private struct State {
        var temporary: Set<BytePath> = []
        var next = 0
        var isEnding = false
    }

    private static let state = Lock(State())

    /// Writes a file in place of any that has its name. Makes the folders above it that are missing.
    ///
    /// - Parameter mode: the permissions; nil, the default, are those of any new file.
    /// - Throws: `FailureReport` with the path; `CancellationError` if the program is ending.
    static func write(_ data: Data, to path: BytePath, mode: mode_t? = nil) throws {
        try makeFolders(path.parent)
        let (temporary, descriptor) = try open(beside: path, mode: mode)
        do {
            var code = write(data, to: descriptor)
            // The last error of a file system over a network comes with the end of the file.
            if close(descriptor) != 0, code == 0 { code = errno }
            guard code == 0 else { throw failure(path, code) }
            // Under the lock, so that a signal finds either the temporary file or the finished one.
            try state.withLock { state in
                guard !state.isEnding else { throw CancellationError() }
                let status = temporary.withCString { from in path.withCString { rename(from, $0) } }
                guard status == 0 else { throw failure(path, errno) }
                state.temporary.remove(temporary)
            }
        } catch {
            state.withLock { state in
                // At the end, the handler of the signal has removed it.
                if state.temporary.remove(temporary) != nil { _ = temporary.withCString { unlink($0) } }
            }
            throw error
        }
    }

    /// Has signals that end the program remove the temporary files first. Nothing appears under its name after that.
    static func removeTemporaryFilesAtSignals(_ signals: Set<Int32> = [SIGINT, SIGTERM, SIGHUP]) {
        EndSignals.handle(signals) {
            state.withLock { state in
                state.isEnding = true
                for path in state.temporary { _ = path.withCString { unlink($0) } }
                state.temporary = []
            }
        }
    }

    /// Makes a temporary file, under the lock, so that a signal finds it.
    private static func open(beside path: BytePath, mode: mode_t?) throws -> (BytePath, Int32) {
        try state.withLock { state in
            guard !state.isEnding else { throw CancellationError() }
            state.next += 1
            // Without the output's own name, which may be as long as a name may be.
            let name = ".halcyon-\(getpid())-\(state.next).tmp"
            let temporary = path.parent.appending(Array(name.utf8))
            // A file that an earlier process of the same number left is in the way of O_EXCL.
            _ = temporary.withCString { unlink($0) }
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
            let descriptor = temporary.withCString { Glibc.open($0, flags, 0o666) }
            guard descriptor >= 0 else { throw failure(path, errno) }
            if let mode { fchmod(descriptor, mode & 0o777) }
            state.temporary.insert(temporary)
            return (temporary, descriptor)
        }
    }

    /// Returns 0, or the number of the error.
    private static func write(_ data: Data, to descriptor: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return errno }
                written += count
            }
            return 0
        }
    }

    private static func makeFolders(_ folder: BytePath) throws {
        if FileFacts(folder)?.kind == .folder { return }
        let parent = folder.parent
        if parent != folder, !folder.name.isEmpty { try makeFolders(parent) }
        guard folder.withCString({ mkdir($0, 0o777) }) != 0, errno != EEXIST else { return }
        throw failure(folder, errno)
    }

    private static func failure(_ path: BytePath, _ code: Int32) -> FailureReport {
        FailureReport(
            code: "processing", message: "\(path) cannot be written: \(String(cString: strerror(code)))")
    }
}
