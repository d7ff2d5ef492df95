import Foundation
import Halcyon
import NIOPosix

/// The folder whose files are sources, as `local:///path` names them.
///
/// A path leads to a regular file below the folder, also through links: the file that was opened is asked where it is. No other user's
/// choice of a name leads out of it, and neither pipes nor devices are opened.
struct SourceFolder: Sendable {
    /// The reason why a file of the folder is no source.
    enum Failure: Error, Hashable, Sendable {
        /// There is no such file below the folder.
        case notFound
        /// The file is longer than the limit.
        case tooLarge
        /// The file has changed since the request began.
        case changed
    }

    private let root: String
    private let maximumBytes: Int

    /// - Throws: `ServerConfigurationError` if there is no such folder.
    init(path: String, maximumBytes: Int) throws {
        guard let resolved = realpath(path, nil) else {
            throw ServerConfigurationError.badValue(key: "source.folder", reason: "there is no folder \(path)")
        }
        defer { free(resolved) }
        root = String(cString: resolved)
        self.maximumBytes = maximumBytes
    }

    /// Returns the source of a file.
    ///
    /// - Parameter path: the path below the folder, decoded.
    /// - Throws: `Failure`.
    func source(at path: String) async throws -> FolderSource {
        let stamp = try await NIOThreadPool.singleton.runIfActive { try open(path).stamp }
        return FolderSource(folder: self, path: path, stamp: stamp)
    }

    /// Returns the stamp that a file has now; nil if it is none of the folder. The look blocks for as long as the kernel takes to open
    /// a file.
    func stamp(at path: String) -> FolderSource.Stamp? {
        try? open(path).stamp
    }

    /// Returns the bytes of a file that still has its stamp.
    func data(at path: String, stamp: FolderSource.Stamp) async throws -> Data {
        try await NIOThreadPool.singleton.runIfActive {
            let (file, now) = try open(path)
            guard now == stamp else { throw Failure.changed }
            let data = try file.readToEnd() ?? Data()
            guard data.count == stamp.size else { throw Failure.changed }
            return data
        }
    }

    private func open(_ path: String) throws -> (file: FileHandle, stamp: FolderSource.Stamp) {
        guard !path.utf8.contains(0) else { throw Failure.notFound }
        let descriptor = Glibc.open("\(root)/\(path)", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Failure.notFound }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, isInside(descriptor) else {
            throw Failure.notFound
        }
        guard status.st_size <= maximumBytes else { throw Failure.tooLarge }
        let time = status.st_mtim
        return (
            file,
            FolderSource.Stamp(
                size: Int(status.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec),
                node: UInt64(status.st_ino))
        )
    }

    /// Whether an open file is below the root, by the kernel's own name of it.
    private func isInside(_ descriptor: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = buffer.withUnsafeMutableBytes {
            guard let start = $0.baseAddress else { return 0 }
            return readlink("/proc/self/fd/\(descriptor)", start.assumingMemoryBound(to: CChar.self), $0.count - 1)
        }
        guard count > 0 else { return false }
        let prefix = root == "/" ? "/" : root + "/"
        return buffer.prefix(count).starts(with: prefix.utf8)
    }
}

/// A file of a `SourceFolder`, which the caches know by its path and its stamp.
struct FolderSource: ImageDataProvider {
    /// The attributes by which a file that was changed differs from the former one.
    struct Stamp: Hashable, Sendable {
        let size: Int
        let seconds: Int
        let nanoseconds: Int
        let node: UInt64
    }

    let folder: SourceFolder
    let path: String
    let stamp: Stamp

    var cacheKey: String {
        "local:///\(path)?\(stamp.size)-\(stamp.seconds)-\(stamp.nanoseconds)-\(stamp.node)"
    }

    /// Encodings alone: the bytes are as easily had as those of the cache.
    var diskLevels: CacheLevels { .diskProcessed }

    /// Whether the file still has its stamp.
    var isCurrent: Bool { folder.stamp(at: path) == stamp }

    /// The moment of the file's last change.
    var lastModified: Date { Date(timeIntervalSince1970: Double(stamp.seconds)) }

    func data() async throws -> Data {
        try await folder.data(at: path, stamp: stamp)
    }
}
