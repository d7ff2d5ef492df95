import Foundation
import Glibc

/// The file system calls of the disk cache, behind a protocol so that a test can make any of them fail.
///
/// All of them block. Each does one thing, as the POSIX call behind it does.
package protocol FileSystem: Sendable {
    /// Opens a file and returns its descriptor.
    func open(_ path: String, for access: FileAccess) throws(SystemCallError) -> Int32
    /// Opens a file for reading if its path is in memory. Never waits for a disk.
    func openCached(_ path: String) throws(SystemCallError) -> Int32
    /// Reads at an offset as `read` does, but only bytes that are in memory. Never waits for a disk.
    func readCached(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemCallError) -> Int
    /// Returns the status of an open file.
    func status(of file: Int32) throws(SystemCallError) -> FileStatus
    /// Returns the status of the file at a path. For a symbolic link, that is the status of the link itself.
    func status(at path: String) throws(SystemCallError) -> FileStatus
    /// Returns the status of the file at a path given as a null-terminated string that is valid during the call, so that no
    /// `String` has to be made for it. Symbolic links are not followed.
    func status(atPath path: UnsafePointer<CChar>) throws(SystemCallError) -> FileStatus
    /// Returns the target of a symbolic link.
    func linkTarget(at path: String) throws(SystemCallError) -> String
    /// Reads at an offset and returns the number of bytes read. Fewer than requested is not an error; 0 is the end of the
    /// file.
    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemCallError) -> Int
    /// Maps the first `size` bytes of a file, which must have that many, for reading until `unmap` is called. The file may
    /// be closed.
    func map(_ file: Int32, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer
    /// Maps a part of a file from an offset that is a multiple of the page size.
    func map(_ file: Int32, from offset: Int, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer
    /// Ends a mapping.
    func unmap(_ bytes: UnsafeRawBufferPointer)
    /// Appends bytes and returns how many were written. Fewer than given is not an error.
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int
    /// Appends two pieces, one behind the other, and returns how many bytes of both together were written.
    func write(
        _ file: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) throws(SystemCallError) -> Int
    /// Sets the access and modification times of an open file.
    func setTimes(of file: Int32, accessed: FileTime, modified: FileTime) throws(SystemCallError)
    /// Returns once an open file's bytes, and the metadata needed to read them, are on the disk.
    func synchronize(_ file: Int32) throws(SystemCallError)
    /// Returns once the names in a folder are on the disk.
    func synchronizeFolder(_ path: String) throws(SystemCallError)
    /// Closes a file. The descriptor is invalid afterwards, even if this throws.
    func close(_ file: Int32) throws(SystemCallError)
    /// Moves a file, replacing any file at the new path.
    func rename(_ path: String, to newPath: String) throws(SystemCallError)
    /// Moves a file to a path that must not exist. Fails with `EEXIST` if it does, and with another error if the file
    /// system cannot tell. Counts as `FileOperation.rename`.
    func renameExclusively(_ path: String, to newPath: String) throws(SystemCallError)
    func unlink(_ path: String) throws(SystemCallError)
    /// Creates a folder with access for its owner only (0700). Its parent must exist.
    func makeDirectory(_ path: String) throws(SystemCallError)
    /// Visits the contents of a folder by name and status, in no particular order. Files that vanish during the call are
    /// left out. A symbolic link to a folder is not treated as a folder.
    func list(_ path: String, _ visit: (String, FileStatus) -> Void) throws(SystemCallError)
    /// Returns the bytes that this user may still write on the file system of a path.
    func freeSpace(at path: String) throws(SystemCallError) -> Int
}

/// Defaults for the requirements that were added later, so that file systems without them still conform: then nothing is
/// mapped, nothing is known to be in memory, nothing can be synchronized, and the rest is done by the other calls.
extension FileSystem {
    package func openCached(_ path: String) throws(SystemCallError) -> Int32 {
        throw SystemCallError(.open, code: EAGAIN)
    }

    package func readCached(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemCallError) -> Int {
        throw SystemCallError(.read, code: EAGAIN)
    }

    package func status(atPath path: UnsafePointer<CChar>) throws(SystemCallError) -> FileStatus {
        try status(at: String(cString: path))
    }

    package func linkTarget(at path: String) throws(SystemCallError) -> String {
        throw SystemCallError(.status, code: ENOTSUP)
    }

    package func write(
        _ file: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) throws(SystemCallError) -> Int {
        // This may write fewer bytes than given; the caller continues with the rest.
        try write(file, first.isEmpty ? second : first)
    }

    package func map(_ file: Int32, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer {
        throw SystemCallError(.map, code: ENOTSUP)
    }

    package func map(
        _ file: Int32, from offset: Int, size: Int
    ) throws(SystemCallError) -> UnsafeRawBufferPointer {
        guard offset == 0 else { throw SystemCallError(.map, code: ENOTSUP) }
        return try map(file, size: size)
    }

    package func unmap(_ bytes: UnsafeRawBufferPointer) {}

    package func renameExclusively(_ path: String, to newPath: String) throws(SystemCallError) {
        throw SystemCallError(.rename, code: ENOTSUP)
    }

    package func synchronize(_ file: Int32) throws(SystemCallError) {
        throw SystemCallError(.synchronize, code: ENOTSUP)
    }

    package func synchronizeFolder(_ path: String) throws(SystemCallError) {
        throw SystemCallError(.synchronizeFolder, code: ENOTSUP)
    }
}

/// The purpose for which a file is opened.
package enum FileAccess: Sendable, Hashable {
    /// Reading an existing file. Symbolic links are not followed, opening a pipe does not wait for a writer, and the time
    /// of the last access is left unchanged if the system permits it.
    case reading
    /// Writing a file that must not exist yet, with access for its owner only (0600).
    case creating
    /// Appending to a file and reading it, exclusively: while it is open like this, opening it like this again fails with
    /// EWOULDBLOCK, also in another process. It is created with access for its owner only (0600) if it does not exist.
    case appending
    /// Appending to and reading a file without a name in the folder at the path: it cannot be opened again, and is deleted
    /// when its descriptor is closed. Not every file system supports such files.
    case nameless
}

/// The calls of a `FileSystem`. An error names the call that failed, and a test chooses the call that is to fail.
public enum FileOperation: String, Sendable, Hashable, CaseIterable {
    /// Opening or creating a file.
    case open
    /// Reading a file's status or the target of a symbolic link.
    case status
    /// Reading bytes.
    case read
    /// Writing bytes.
    case write
    /// Setting a file's access and modification times.
    case setTimes
    /// Closing a file.
    case close
    /// Moving a file, whether or not it may replace another.
    case rename
    /// Deleting a file.
    case unlink
    /// Creating a folder.
    case makeDirectory
    /// Reading the contents of a folder.
    case list
    /// Asking for the free space of a file system.
    case freeSpace
    /// Mapping a file into memory.
    case map
    /// Writing a file's bytes to the disk (`fdatasync`).
    case synchronize
    /// Writing the names in a folder to the disk (`fsync`).
    case synchronizeFolder
}

/// An error of a call to the file system.
public struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call that failed.
    public let operation: FileOperation
    /// The system's error number, such as `ENOSPC`.
    public let code: Int32

    package init(_ operation: FileOperation, code: Int32) {
        self.operation = operation
        self.code = code
    }

    public var description: String {
        "\(operation.rawValue): \(String(cString: strerror(code)))"
    }
}

extension SystemCallError: LocalizedError {
    public var errorDescription: String? { description }
}
