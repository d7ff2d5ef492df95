import CHalcyonSystem
import Glibc
import HalcyonSystem

/// The operating system's own file system.
package struct PosixFileSystem: FileSystem {
    package init() {}

    package func open(_ path: String, for access: FileAccess) throws(SystemCallError) -> Int32 {
        let file = try call(.open) {
            // Here and below `withCString`, since a string passed directly would be copied for the call.
            path.withCString { path in
                switch access {
                case .reading: halcyon_open_unnoticed(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
                case .creating: Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
                case .appending:
                    Glibc.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
                case .nameless: halcyon_open_nameless(path)
                }
            }
        }
        guard access == .appending else { return file }
        do {
            // The lock ends with the last descriptor of this open file, so also when the process is killed.
            try call(.open) { flock(file, LOCK_EX | LOCK_NB) }
        } catch {
            _ = Glibc.close(file)
            throw error
        }
        return file
    }

    package func openCached(_ path: String) throws(SystemCallError) -> Int32 {
        try call(.open) {
            path.withCString { halcyon_open_cached($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        }
    }

    package func readCached(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemCallError) -> Int {
        try call(.read) { halcyon_read_cached(file, buffer.baseAddress, buffer.count, offset) }
    }

    package func status(of file: Int32) throws(SystemCallError) -> FileStatus {
        var result = stat()
        try call(.status) { fstat(file, &result) }
        return FileStatus(result)
    }

    package func status(at path: String) throws(SystemCallError) -> FileStatus {
        var result = stat()
        try call(.status) { path.withCString { fstatat(AT_FDCWD, $0, &result, AT_SYMLINK_NOFOLLOW) } }
        return FileStatus(result)
    }

    package func status(atPath path: UnsafePointer<CChar>) throws(SystemCallError) -> FileStatus {
        var result = stat()
        try call(.status) { fstatat(AT_FDCWD, path, &result, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(result)
    }

    package func linkTarget(at path: String) throws(SystemCallError) -> String {
        let size = Int(PATH_MAX)
        var target = [CChar](repeating: 0, count: size)
        let count = try call(.status) { readlink(path, &target, size) }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package func read(
        _ file: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemCallError) -> Int {
        try call(.read) { pread(file, buffer.baseAddress, buffer.count, offset) }
    }

    package func map(_ file: Int32, size: Int) throws(SystemCallError) -> UnsafeRawBufferPointer {
        try map(file, from: 0, size: size)
    }

    package func map(
        _ file: Int32, from offset: Int, size: Int
    ) throws(SystemCallError) -> UnsafeRawBufferPointer {
        // The whole mapping is about to be read: one call populates it instead of a fault per page.
        let flags = MAP_PRIVATE | Int32(MAP_POPULATE)
        guard let start = mmap(nil, size, PROT_READ, flags, file, offset), start != MAP_FAILED else {
            throw SystemCallError(.map, code: errno)
        }
        let bytes = UnsafeRawBufferPointer(start: start, count: size)
        if offset == 0 { MappedFiles.add(bytes, of: file) }
        return bytes
    }

    package func unmap(_ bytes: UnsafeRawBufferPointer) {
        MappedFiles.remove(bytes)
        munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }

    package func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) throws(SystemCallError) -> Int {
        try call(.write) { Glibc.write(file, bytes.baseAddress, bytes.count) }
    }

    package func write(
        _ file: Int32, _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) throws(SystemCallError) -> Int {
        var pieces = (iovec(first), iovec(second))
        return try call(.write) {
            withUnsafeBytes(of: &pieces) { writev(file, $0.assumingMemoryBound(to: iovec.self).baseAddress, 2) }
        }
    }

    package func setTimes(of file: Int32, accessed: FileTime, modified: FileTime) throws(SystemCallError) {
        var times = (timespec(accessed), timespec(modified))
        try call(.setTimes) {
            withUnsafeBytes(of: &times) { futimens(file, $0.assumingMemoryBound(to: timespec.self).baseAddress) }
        }
    }

    package func synchronize(_ file: Int32) throws(SystemCallError) {
        try call(.synchronize) { fdatasync(file) }
    }

    package func synchronizeFolder(_ path: String) throws(SystemCallError) {
        let folder = try call(.synchronizeFolder) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        defer { _ = Glibc.close(folder) }
        try call(.synchronizeFolder) { fsync(folder) }
    }

    package func close(_ file: Int32) throws(SystemCallError) {
        // Never retried after EINTR: Linux has released the descriptor by then, and it may already belong to another file.
        if Glibc.close(file) != 0, errno != EINTR { throw SystemCallError(.close, code: errno) }
    }

    package func rename(_ path: String, to newPath: String) throws(SystemCallError) {
        try call(.rename) { path.withCString { path in newPath.withCString { Glibc.rename(path, $0) } } }
    }

    package func renameExclusively(_ path: String, to newPath: String) throws(SystemCallError) {
        try call(.rename) { path.withCString { path in newPath.withCString { Glibc.link(path, $0) } } }
        try unlink(path)
    }

    package func unlink(_ path: String) throws(SystemCallError) {
        try call(.unlink) { path.withCString { Glibc.unlink($0) } }
    }

    package func makeDirectory(_ path: String) throws(SystemCallError) {
        try call(.makeDirectory) { mkdir(path, 0o700) }
    }

    package func list(_ path: String, _ visit: (String, FileStatus) -> Void) throws(SystemCallError) {
        let folder = try call(.list) { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        guard let directory = fdopendir(folder) else {
            let code = errno
            _ = Glibc.close(folder)
            throw SystemCallError(.list, code: code)
        }
        defer { closedir(directory) }
        let nameOffset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 19
        while true {
            errno = 0
            guard let entry = readdir(directory) else {
                if errno != 0 { throw SystemCallError(.list, code: errno) }
                return
            }
            // By address: a copy of the whole `dirent` would read past the end of a short record.
            let name = UnsafeRawPointer(entry).advanced(by: nameOffset).assumingMemoryBound(to: CChar.self)
            if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { continue }
            var result = stat()
            guard fstatat(dirfd(directory), name, &result, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            visit(String(cString: name), FileStatus(result))
        }
    }

    package func freeSpace(at path: String) throws(SystemCallError) -> Int {
        var result = statvfs()
        try call(.freeSpace) { statvfs(path, &result) }
        let (bytes, overflow) = Int(clamping: result.f_bavail).multipliedReportingOverflow(
            by: Int(clamping: result.f_frsize))
        return overflow ? .max : bytes
    }

    /// Makes a call and repeats it as long as a signal interrupts it; a result of -1 is thrown as an error.
    @discardableResult
    private func call<Result: SignedInteger>(
        _ operation: FileOperation, _ body: () -> Result
    ) throws(SystemCallError) -> Result {
        while true {
            let result = body()
            if result != -1 { return result }
            let code = errno
            if code != EINTR { throw SystemCallError(operation, code: code) }
        }
    }
}

extension FileStatus {
    // The values of `S_IFMT` and the others, which are function calls in Glibc's module.
    private static var format: mode_t { 0o170000 }
    private static var regular: mode_t { 0o100000 }
    private static var directory: mode_t { 0o040000 }

    fileprivate init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & Self.format {
            case Self.regular: .regular
            case Self.directory: .directory
            default: .other
            }
        self.init(
            kind: kind, size: Int(status.st_size), accessed: FileTime(status.st_atim),
            modified: FileTime(status.st_mtim), changed: FileTime(status.st_ctim), device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino), owner: status.st_uid, group: status.st_gid,
            permissions: UInt16(status.st_mode & 0o7777))
    }
}

extension iovec {
    /// Creates a vector for `writev`, which only reads the bytes.
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
        self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}

extension FileTime {
    fileprivate init(_ time: timespec) {
        self.init(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}

extension timespec {
    fileprivate init(_ time: FileTime) {
        self.init(tv_sec: time.seconds, tv_nsec: time.nanoseconds)
    }
}
