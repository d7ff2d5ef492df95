import CGTK
import Halcyon

/// The attributes of a file, as GIO reports them.
struct FileFacts: Sendable {
    private let type: GFileType
    private let size: UInt64
    /// A text that changes when the file's content changes: its size, modification time and entity tag.
    let revision: String

    /// - Throws: `GIOImageError.Reason`; `CancellationError`.
    static func asked(of file: GObjectReference) async throws -> FileFacts {
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
        revision = "\(size),\(seconds).\(microseconds),\(tag)"
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
