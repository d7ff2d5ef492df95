import Foundation
import Glibc

/// A reader of the files that requests name. It blocks: call it on `ThreadPools.io`.
package enum FileSource {
    /// The reason why a file cannot be read.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// A file as it was read.
    struct Contents {
        let data: Data
        /// The key of the file that was read.
        let key: String
        /// Whether any change after the read gives the file another key.
        let isSettled: Bool
    }

    /// The longest time between two times that a local file system gives to changes: two ticks of a kernel of 100 Hz.
    static let tick = Duration.milliseconds(20)

    /// Returns a key that distinguishes a file's content from that of other files and from its own earlier content, made of the
    /// file's metadata.
    ///
    /// It takes one system call, under a microsecond on a local disk.
    package static func key(_ path: String) -> String {
        var status = stat()
        return fstatat(AT_FDCWD, path, &status, 0) == 0 ? key(path, status) : "file:" + path
    }

    private static func key(_ path: String, _ status: stat) -> String {
        // The change time is included because a copy may keep the size and the modification time of the file that it replaces.
        let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }.joined(separator: ",")
        return "file:\(status.st_dev),\(status.st_ino),\(status.st_size),\(times):\(path)"
    }

    /// Returns the contents of a file.
    ///
    /// - Throws: `Failure`, also for anything but a regular file: a pipe might never end.
    static func read(_ path: String, maximumBytes: Int) throws -> Contents {
        try withFile(path) { descriptor, status in
            guard Int(status.st_size) <= maximumBytes else {
                throw Failure(description: "it has \(status.st_size) bytes; the limit is \(maximumBytes)")
            }
            let (key, isSettled) = (key(path, status), isSettled(status))
            let data = try contents(of: descriptor, expected: Int(status.st_size), maximumBytes: maximumBytes)
            return Contents(data: data, key: key, isSettled: isSettled)
        }
    }

    /// Calls `body` with the descriptor of a file, which is closed afterwards, and the file's size in bytes.
    ///
    /// - Throws: `Failure`, also for anything but a regular file; the errors of `body`.
    package static func withDescriptor<Result>(
        of path: String, _ body: (_ descriptor: Int32, _ byteCount: Int) throws -> Result
    ) throws -> Result {
        try withFile(path) { try body($0, Int($1.st_size)) }
    }

    private static func withFile<Result>(_ path: String, _ body: (Int32, stat) throws -> Result) throws -> Result {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure(description: reason(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure(description: reason(errno)) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw Failure(description: "it is a folder")
        default: throw Failure(description: "it is not a regular file")
        }
        return try body(descriptor, status)
    }

    /// Whether the file did not change within the last tick.
    private static func isSettled(_ status: stat) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let changed = status.st_ctim
        let seconds = now.tv_sec.subtractingReportingOverflow(changed.tv_sec).partialValue
        // A time far in the future is of another clock, which has no part in what this one says next.
        guard (-1...1).contains(seconds) else { return true }
        let age = Duration.seconds(seconds) + .nanoseconds(now.tv_nsec - changed.tv_nsec)
        return age >= tick || age <= .zero - tick
    }

    /// Reads to the end of the file, whatever size `fstat` reported: the file may grow or shrink meanwhile.
    private static func contents(of descriptor: Int32, expected: Int, maximumBytes: Int) throws -> Data {
        var data = Data(count: expected + 1)
        var filled = 0
        while true {
            if filled == data.count { data.count += max(64 << 10, data.count / 2) }
            let count = data.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure(description: reason(errno))
            }
            if count == 0 { break }
            filled += count
            guard filled <= maximumBytes else {
                throw Failure(description: "it has more than \(maximumBytes) bytes")
            }
        }
        data.count = filled
        return data
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR: "there is no such file"
        case EACCES, EPERM: "it may not be read"
        default: String(cString: strerror(code))
        }
    }
}
