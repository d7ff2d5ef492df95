import CGTK
import Foundation
import Glibc
import Halcyon

/// An image in a file of GIO: in the trash, on a server that is mounted, in an archive.
///
///     let request = ImageRequest(.provider(GFileImage(file)))
///
/// Files of the local file system are named in the caches by what it says of them when this is made: make another one to see
/// that a file has changed. For others that would be a question to a server, so their URI alone counts, and `current` asks.
public final class GFileImage: ImageDataProvider {
    public let uri: String
    public let cacheKey: String
    /// The most bytes that are read, 200 MB by default. A request may allow fewer, not more.
    public let maximumBytes: Int
    private let file: GObjectReference

    public var contentURL: URL? { URL(string: uri) }

    /// - Parameter file: a `GFile`, of which a reference is kept; the caller's stays the caller's. A local one is looked at,
    ///   which takes about a microsecond.
    public convenience init(_ file: OpaquePointer, maximumBytes: Int = 200_000_000) {
        self.init(
            GObjectReference(keeping: UnsafeMutableRawPointer(file)), revision: nil, maximumBytes: maximumBytes)
    }

    /// - Parameter uri: such as `trash:///photo.jpg`. What is no URI makes an image whose load fails.
    public convenience init(uri: String, maximumBytes: Int = 200_000_000) {
        self.init(Self.file(uri), revision: nil, maximumBytes: maximumBytes)
    }

    /// - Parameter revision: what tells the file's bytes from those of another day; nil asks the local file system.
    private init(_ file: GObjectReference, revision: String?, maximumBytes: Int) {
        self.file = file
        self.maximumBytes = max(0, maximumBytes)
        let text = g_file_get_uri(file.opaque)
        defer { g_free(text) }
        uri = text.map { String(cString: $0) } ?? ""
        cacheKey = "gfile:\(revision ?? Self.localRevision(file.opaque)):\(uri)"
    }

    /// The file of a URI as it is now, wherever it lies: asks for its size and the time of its last change, which go into
    /// the key.
    ///
    /// Cost: one question to whatever serves the URI.
    /// - Throws: `GIOImageError`; `CancellationError`.
    public static func current(_ uri: String, maximumBytes: Int = 200_000_000) async throws -> GFileImage {
        let file = file(uri)
        if g_file_is_native(file.opaque) != 0 {
            return GFileImage(file, revision: nil, maximumBytes: maximumBytes)
        }
        do {
            let facts = try await FileFacts.asked(of: file)
            return GFileImage(file, revision: facts.revision, maximumBytes: maximumBytes)
        } catch let reason as GIOImageError.Reason {
            throw GIOImageError(source: ImageSource(URL(string: uri)).description, reason: reason)
        }
    }

    /// The file's bytes. They are read behind, on threads of GIO's.
    ///
    /// - Throws: `GIOImageError`, also for anything but a regular file; `CancellationError`.
    public func data() async throws -> Data {
        do {
            let facts = try await FileFacts.asked(of: file)
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

    /// As Halcyon's own files have it: the change time as well, since a copy may keep the size and the modification time
    /// of what it replaces.
    private static func localRevision(_ file: OpaquePointer) -> String {
        guard g_file_is_native(file) != 0, let path = g_file_get_path(file) else { return "" }
        defer { g_free(path) }
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, 0) == 0 else { return "" }
        let times = [status.st_mtim, status.st_ctim].map { "\($0.tv_sec).\($0.tv_nsec)" }.joined(separator: ",")
        return "\(status.st_dev),\(status.st_ino),\(status.st_size),\(times)"
    }
}

// MARK: - Reading

extension GFileImage {
    /// Bytes that are asked for at once.
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

    /// Reads to the end, whatever the file said of its size.
    private func contents(of stream: GObjectReference) async throws -> Data {
        var all = Data()
        while true {
            // One byte more than it may have tells that there is more.
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

    /// Behind: its last reference would wait for the answer of whatever serves the file.
    private static func close(_ stream: GObjectReference) {
        GIOThread.shared.perform {
            g_input_stream_close_async(stream.typed(), G_PRIORITY_DEFAULT, nil, nil, nil)
        }
    }
}
