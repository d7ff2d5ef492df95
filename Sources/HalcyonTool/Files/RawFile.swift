import Foundation
import Halcyon

/// A reader of files whose names are not text.
enum RawFile {
    /// Returns the contents of a regular file.
    ///
    /// - Throws: `FailureReport`.
    static func read(_ path: BytePath, maximumBytes: Int) throws -> Data {
        let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure("it is not a regular file")
        }
        guard Int(status.st_size) <= maximumBytes else {
            throw failure("it has \(status.st_size) bytes; the limit is \(maximumBytes)")
        }
        do {
            // A file that grows meanwhile is not read beyond the limit.
            return try handle.read(upToCount: Int(status.st_size)) ?? Data()
        } catch {
            throw failure(error.localizedDescription)
        }
    }

    private static func failure(_ reason: String) -> FailureReport {
        FailureReport(code: "badSource", message: reason)
    }
}
