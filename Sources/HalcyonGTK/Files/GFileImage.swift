import CGTK
import Foundation
import Glibc
import Halcyon

/// An image in a GIO file: in the trash, on a mounted server, in an archive.
///
///     let request = ImageRequest(.provider(GFileImage(file)))
///
/// For files of the local file system, the cache key contains the file's attributes at the time that the `GFileImage` is
/// created: create another one to see that a file has changed. For other files that would take a request to a server, so the
/// key is their URI alone; `current(_:maximumBytes:)` asks for the attributes.
///
/// The disk cache keeps the finished images of a local file, for policies that store them. Of other files it keeps the bytes as
/// well, as those of a server, but only with attributes that tell versions of the file apart: the image comes from `current`, and
/// the file did not change in the two minutes before that, since some servers tell times no finer.
public final class GFileImage: ImageDataProvider {
    /// The URI of the file.
    public let uri: String
    public let cacheKey: String
    /// The maximum number of bytes that are read; 200 MB by default. A request may set a lower limit, not a higher one.
    public let maximumBytes: Int
    public let diskLevels: CacheLevels
    private let file: GObjectReference

    public var contentURL: URL? { URL(string: uri) }

    /// - Parameter file: a `GFile`, to which a reference is added. The attributes of a local file are read, which takes about a
    ///   microsecond.
    public convenience init(_ file: OpaquePointer, maximumBytes: Int = 200_000_000) {
        self.init(
            GObjectReference(keeping: UnsafeMutableRawPointer(file)), revision: nil, maximumBytes: maximumBytes)
    }

    /// - Parameter uri: a URI such as `trash:///photo.jpg`. If it is not valid, the load fails.
    public convenience init(uri: String, maximumBytes: Int = 200_000_000) {
        self.init(Self.file(uri), revision: nil, maximumBytes: maximumBytes)
    }

    /// - Parameter revision: a text that changes with the file's content; nil reads the attributes of a local file.
    private init(_ file: GObjectReference, revision: FileRevision?, maximumBytes: Int) {
        let isLocal = g_file_is_native(file.opaque) != 0
        let revision = revision ?? (isLocal ? .local(file.opaque) : .unknown)
        self.file = file
        self.maximumBytes = max(0, maximumBytes)
        let text = g_file_get_uri(file.opaque)
        defer { g_free(text) }
        uri = text.map { String(cString: $0) } ?? ""
        cacheKey = "gfile:\(revision.text):\(uri)"
        diskLevels = revision.isReliable ? (isLocal ? .diskProcessed : .disk) : []
    }

    /// Returns the image of a URI with the file's current size and modification time in its cache key, wherever the file is.
    ///
    /// Cost: one query to the file system or server of the URI.
    /// - Throws: `GIOImageError`; `CancellationError`.
    public static func current(_ uri: String, maximumBytes: Int = 200_000_000) async throws -> GFileImage {
        let file = file(uri)
        if g_file_is_native(file.opaque) != 0 {
            return GFileImage(file, revision: nil, maximumBytes: maximumBytes)
        }
        do {
            let facts = try await FileFacts.queried(of: file)
            return GFileImage(file, revision: facts.revision, maximumBytes: maximumBytes)
        } catch let reason as GIOImageError.Reason {
            throw GIOImageError(source: ImageSource(URL(string: uri)).description, reason: reason)
        }
    }

    /// Returns the content of the file, which GIO's threads read in the background.
    ///
    /// - Throws: `GIOImageError`, also for anything but a regular file; `CancellationError`.
    public func data() async throws -> Data {
        do {
            let facts = try await FileFacts.queried(of: file)
            try facts.check(maximumBytes: maximumBytes)
            let stream = try await open()
            defer { Self.close(stream) }
            return try await contents(of: stream)
        } catch let reason as GIOImageError.Reason {
            throw GIOImageError(source: ImageSource.provider(self).description, reason: reason)
        }
    }

    private static func file(_ uri: String) -> GObjectReference {
        GObjectReference(taking: UnsafeMutableRawPointer(g_file_new_for_uri(uri)))
    }
}

/// A version of a file, by its attributes.
struct FileRevision: Sendable {
    let text: String
    /// Whether any later change gives the file another revision. Times are only as fine as a file system or server tells them.
    let isReliable: Bool

    /// The revision of a file that is not known.
    static let unknown = FileRevision(text: "", isReliable: false)

    /// Returns the same revision as that of Halcyon's own file sources. It includes the change time (ctime), since a copy may
    /// keep the size and the modification time of the file that it replaces.
    static func local(_ file: OpaquePointer) -> FileRevision {
        guard let path = g_file_get_path(file) else { return .unknown }
        defer { g_free(path) }
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, 0) == 0 else { return .unknown }
        let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }.joined(separator: ",")
        return FileRevision(
            text: "\(status.st_dev),\(status.st_ino),\(status.st_size),\(times)",
            // A kernel's clock of file times is at most 10 ms behind.
            isReliable: age(of: status.st_ctim) > .milliseconds(20))
    }

    /// Creates the revision of a file on a server.
    ///
    /// - Parameter modified: the modification time in seconds since 1970; 0 if it is not known.
    init(size: UInt64, modified: UInt64, microseconds: UInt32, tag: String) {
        text = "\(size),\(modified).\(microseconds),\(tag)"
        let time = timespec(tv_sec: Int(clamping: modified), tv_nsec: 0)
        isReliable = modified > 0 && Self.age(of: time) > .seconds(120)
    }

    private init(text: String, isReliable: Bool) {
        (self.text, self.isReliable) = (text, isReliable)
    }

    private static func age(of time: timespec) -> Duration {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        // No clock is further away than this.
        let seconds = min(max(now.tv_sec.subtractingReportingOverflow(time.tv_sec).partialValue, -1 << 40), 1 << 40)
        return .seconds(seconds) + .nanoseconds(now.tv_nsec - time.tv_nsec)
    }
}

// MARK: - Reading

extension GFileImage {
    /// The maximum number of bytes of one read.
    private static let chunk = 256 << 10

    private func open() async throws -> GObjectReference {
        try await GIOCall.run { [file] cancellable, callback, data in
            g_file_read_async(file.opaque, G_PRIORITY_DEFAULT, cancellable, callback, data)
        } end: { [file] result, error in
            g_file_read_finish(file.opaque, result, error).map {
                GObjectReference(taking: UnsafeMutableRawPointer($0))
            }
        }
    }

    /// Reads to the end of the stream, whatever size the file reported.
    private func contents(of stream: GObjectReference) async throws -> Data {
        var all = Data()
        while true {
            // Reading one byte beyond the limit tells whether there is more.
            let wanted = min(Self.chunk, maximumBytes - all.count + 1)
            let bytes = try await GIOCall.run { cancellable, callback, data in
                g_input_stream_read_bytes_async(
                    stream.typed(), gsize(wanted), G_PRIORITY_DEFAULT, cancellable, callback, data)
            } end: { result, error -> Data? in
                guard let bytes = g_input_stream_read_bytes_finish(stream.typed(), result, error) else { return nil }
                defer { g_bytes_unref(bytes) }
                var count: gsize = 0
                guard let start = g_bytes_get_data(bytes, &count) else { return Data() }
                return Data(bytes: start, count: Int(count))
            }
            if bytes.isEmpty { return all }
            all.append(bytes)
            guard all.count <= maximumBytes else { throw GIOImageError.Reason.tooLarge(limit: maximumBytes) }
        }
    }

    /// Closes the stream in the background: releasing its last reference would wait for an answer of the file system or server.
    private static func close(_ stream: GObjectReference) {
        GIOThread.shared.perform {
            g_input_stream_close_async(stream.typed(), G_PRIORITY_DEFAULT, nil, nil, nil)
        }
    }
}

/// The attributes of a file, as GIO reports them.
struct FileFacts: Sendable {
    private let type: GFileType
    private let size: UInt64
    /// A text that changes when the file's content changes: its size, modification time and entity tag.
    let revision: FileRevision

    /// - Throws: `GIOImageError.Reason`; `CancellationError`.
    static func queried(of file: GObjectReference) async throws -> FileFacts {
        let attributes = "standard::type,standard::size,time::modified,time::modified-usec,etag::value"
        return try await GIOCall.run { cancellable, callback, data in
            g_file_query_info_async(
                file.opaque, attributes, G_FILE_QUERY_INFO_NONE, G_PRIORITY_DEFAULT, cancellable, callback, data)
        } end: { result, error in
            guard let info = g_file_query_info_finish(file.opaque, result, error) else { return nil }
            defer { g_object_unref(UnsafeMutableRawPointer(info)) }
            return FileFacts(info)
        }
    }

    /// An attribute that the file system does not report is 0.
    private init(_ info: OpaquePointer) {
        type = GFileType(rawValue: g_file_info_get_attribute_uint32(info, "standard::type"))
        size = UInt64(g_file_info_get_attribute_uint64(info, "standard::size"))
        let seconds = g_file_info_get_attribute_uint64(info, "time::modified")
        let microseconds = g_file_info_get_attribute_uint32(info, "time::modified-usec")
        let tag = g_file_info_get_attribute_string(info, "etag::value").map { String(cString: $0) } ?? ""
        revision = FileRevision(size: size, modified: UInt64(seconds), microseconds: microseconds, tag: tag)
    }

    /// - Throws: `GIOImageError.Reason` for anything but a regular file, and for a file of more than `maximumBytes`.
    func check(maximumBytes: Int) throws {
        switch type {
        // Some of GIO's file systems do not report a type.
        case G_FILE_TYPE_REGULAR, G_FILE_TYPE_UNKNOWN: break
        case G_FILE_TYPE_DIRECTORY: throw GIOImageError.Reason.isFolder
        default: throw GIOImageError.Reason.notAFile
        }
        guard size <= UInt64(maximumBytes) else { throw GIOImageError.Reason.tooLarge(limit: maximumBytes) }
    }
}
