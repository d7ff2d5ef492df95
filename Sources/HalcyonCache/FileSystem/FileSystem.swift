import Glibc

/// The calls that the disk cache makes, so that a test can let any of them fail.
///
/// All of them block. Each does one thing, as the POSIX call behind it does.
public protocol FileSystem: Sendable {
    /// Opens a file and returns its descriptor.
    func open(_ path: String, for access: FileAccess) throws(SystemCallError) -> Int32
    /// The status of an open file.
    func status(of file: Int32) throws(SystemCallError) -> FileStatus
    /// The status of the file at a path; of a symbolic link itself, not of what it points to.
    func status(at path: String) throws(SystemCallError) -> FileStatus
    /// The same for a path that ends with a null, which is valid during the call: no string has to be made for it.
    func status(atPath path: UnsafePointer<CChar>) throws(SystemCallError) -> FileStatus
    /// The path that a symbolic link holds.
    func linkTarget(at path: String) throws(SystemCallError) -> String
    /// Reads at an offset and returns how many bytes there were: fewer than asked for is no error, 0 is the end.
    func read(_ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemCallError) -> Int
    /// Maps the first bytes of a file, as many as it has, to be read until `unmap` is called. The file may be closed.
    func map(_ file: Int32, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer
    /// Maps a part of a file, from an offset that is a multiple of the page size on.
    func map(_ file: Int32, from offset: Int, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer
    /// Ends a mapping.
    func unmap(_ bytes: UnsafeRawBufferPointer)
    /// Writes on at the end and returns how many bytes were taken: fewer than given is no error.
    func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int
    /// The same with two pieces, one behind the other; how many bytes were taken of both together.
    func write(
        _ file: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) throws(SystemCallError) -> Int
    /// Sets both times of an open file.
    func setTimes(of file: Int32, accessed: FileTime, modified: FileTime) throws(SystemCallError)
    /// Returns once an open file's bytes, and what it takes to find them, are on the disk.
    func synchronize(_ file: Int32) throws(SystemCallError)
    /// Returns once the names in a folder are on the disk.
    func synchronizeFolder(_ path: String) throws(SystemCallError)
    /// Closes a file. The descriptor is gone even when this throws.
    func close(_ file: Int32) throws(SystemCallError)
    /// Moves a file, replacing what is there.
    func rename(_ path: String, to newPath: String) throws(SystemCallError)
    /// Moves a file to where none is; fails with `EEXIST` otherwise, and with another error where the file system cannot
    /// tell. Counts as `FileOperation.rename`.
    func renameExclusively(_ path: String, to newPath: String) throws(SystemCallError)
    func unlink(_ path: String) throws(SystemCallError)
    /// Makes a folder for its owner alone (0700); the one above it must exist.
    func makeDirectory(_ path: String) throws(SystemCallError)
    /// Visits what is in a folder, by name and status, in no particular order. What vanishes meanwhile is left out. A
    /// symbolic link to a folder is none.
    func list(_ path: String, _ visit: (String, FileStatus) -> Void) throws(SystemCallError)
    /// Bytes that this user may still write on the file system of a path.
    func freeSpace(at path: String) throws(SystemCallError) -> Int
}

/// What came later, so that a file system without it still is one: nothing is mapped then, nothing can be synced, and the
/// rest is done by the other calls.
extension FileSystem {
    public func status(atPath path: UnsafePointer<CChar>) throws(SystemCallError) -> FileStatus {
        try status(at: String(cString: path))
    }

    public func linkTarget(at path: String) throws(SystemCallError) -> String {
        throw SystemCallError(.status, code: ENOTSUP)
    }

    public func write(
        _ file: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) throws(SystemCallError) -> Int {
        // Fewer than given: the caller goes on with the rest.
        try write(file, first.isEmpty ? second : first)
    }

    public func map(_ file: Int32, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer {
        throw SystemCallError(.map, code: ENOTSUP)
    }

    public func map(
        _ file: Int32, from offset: Int, size: Int
    ) throws(SystemCallError) -> UnsafeRawBufferPointer {
        guard offset == 0 else { throw SystemCallError(.map, code: ENOTSUP) }
        return try map(file, size: size)
    }

    public func unmap(_ bytes: UnsafeRawBufferPointer) {}

    public func renameExclusively(_ path: String, to newPath: String) throws(SystemCallError) {
        throw SystemCallError(.rename, code: ENOTSUP)
    }

    public func synchronize(_ file: Int32) throws(SystemCallError) {
        throw SystemCallError(.synchronize, code: ENOTSUP)
    }

    public func synchronizeFolder(_ path: String) throws(SystemCallError) {
        throw SystemCallError(.synchronizeFolder, code: ENOTSUP)
    }
}
