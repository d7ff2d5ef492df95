import Glibc

/// The facts about a file that tell it from others and say how old it is.
struct FileFacts: Sendable {
    enum Kind: Sendable {
        case file, folder, link, other
    }

    /// A file's place in its file system: equal for all names of one file.
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
    }

    let identity: Identity
    let kind: Kind
    let size: Int
    /// The permissions.
    let mode: mode_t
    private let modified: timespec

    /// Asks the system. Nil where there is no such file, or where it may not be known.
    init?(_ path: BytePath, followingLinks: Bool = true) {
        var status = stat()
        let flags = followingLinks ? 0 : AT_SYMLINK_NOFOLLOW
        guard path.withCString({ fstatat(AT_FDCWD, $0, &status, flags) }) == 0 else { return nil }
        identity = Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        size = Int(status.st_size)
        mode = status.st_mode & 0o7777
        modified = status.st_mtim
    }

    func isNewer(than other: FileFacts) -> Bool {
        (modified.tv_sec, modified.tv_nsec) > (other.modified.tv_sec, other.modified.tv_nsec)
    }
}

/// The names in a folder.
enum FolderReader {
    /// Returns the names in the order of their bytes, without `.` and `..`; hidden ones included.
    ///
    /// - Throws: `FailureReport` if the folder cannot be read.
    static func names(in folder: BytePath) throws -> [[UInt8]] {
        guard let directory = folder.withCString({ opendir($0) }) else { throw failure(folder, errno) }
        defer { closedir(directory) }
        let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 19
        var names: [[UInt8]] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else {
                if errno != 0 { throw failure(folder, errno) }
                break
            }
            // By address: a copy of the whole `dirent` would read past the end of a short record.
            let name = UnsafeRawPointer(entry).advanced(by: offset)
            let length = strlen(name.assumingMemoryBound(to: CChar.self))
            let bytes = Array(UnsafeRawBufferPointer(start: name, count: length))
            if bytes != [0x2E], bytes != [0x2E, 0x2E] { names.append(bytes) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func failure(_ folder: BytePath, _ code: Int32) -> FailureReport {
        FailureReport(
            code: "badSource", message: "the folder \(folder) cannot be read: \(String(cString: strerror(code)))")
    }
}
