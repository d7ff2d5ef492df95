import Foundation
import Glibc

/// A reader of files by the bytes of their names.
enum RawFile {
    /// Returns the contents of a regular file on the calling thread.
    ///
    /// - Throws: `FailureReport` without the path, also for anything but a regular file: a pipe might never end.
    static func read(_ path: BytePath, maximumBytes: Int) throws -> Data {
        let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure("it is not a regular file") }
        guard Int(status.st_size) <= maximumBytes else {
            throw failure("it has \(status.st_size) bytes; the limit is \(maximumBytes)")
        }
        // A file that grows meanwhile is read as far as it was long.
        var data = Data(count: Int(status.st_size))
        var filled = 0
        while filled < data.count {
            let count = data.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(errno) }
            if count == 0 { break }
            filled += count
        }
        data.count = filled
        return data
    }

    private static func failure(_ code: Int32) -> FailureReport {
        switch code {
        case ENOENT, ENOTDIR: failure("there is no such file")
        case EACCES, EPERM: failure("it may not be read")
        default: failure(String(cString: strerror(code)))
        }
    }

    private static func failure(_ reason: String) -> FailureReport {
        FailureReport(code: "badSource", message: reason)
    }
}
