import CGTK
import Halcyon

/// Why a resource or a file of GIO could not be read. A load ends in `ImagePipelineError.badSource` with the same words.
public struct GIOImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    public enum Reason: Error, Hashable, Sendable {
        case notFound
        case notPermitted
        case isFolder
        /// A pipe, a device, a mount point: it might never end.
        case notAFile
        case tooLarge(limit: Int)
        /// Nothing on this system reads URIs of this scheme, or what it names is not mounted.
        case notSupported
        /// In GIO's words.
        case failed(String)
    }

    /// What could not be read, without a user and a password.
    public let source: String
    public let reason: Reason

    /// The reason alone.
    public var description: String {
        switch reason {
        case .notFound: "there is no such file"
        case .notPermitted: "it may not be read"
        case .isFolder: "it is a folder"
        case .notAFile: "it is not a regular file"
        case .tooLarge(let limit): "it has more than \(limit) bytes"
        case .notSupported: "nothing on this system reads it"
        case .failed(let message): message
        }
    }

    /// The reason that GIO gives, or `CancellationError`.
    static func thrown(for error: UnsafeMutablePointer<GError>?) -> any Error {
        guard let error = error?.pointee else { return Reason.failed("it cannot be read") }
        let message = error.message.map { String(cString: $0) } ?? "it cannot be read"
        if error.domain == g_resource_error_quark() {
            return error.code == Int32(G_RESOURCE_ERROR_NOT_FOUND.rawValue) ? Reason.notFound : Reason.failed(message)
        }
        guard error.domain == g_io_error_quark() else { return Reason.failed(message) }
        switch GIOErrorEnum(rawValue: UInt32(bitPattern: error.code)) {
        case G_IO_ERROR_CANCELLED: return CancellationError()
        case G_IO_ERROR_NOT_FOUND, G_IO_ERROR_NOT_DIRECTORY: return Reason.notFound
        case G_IO_ERROR_PERMISSION_DENIED: return Reason.notPermitted
        case G_IO_ERROR_IS_DIRECTORY: return Reason.isFolder
        case G_IO_ERROR_NOT_REGULAR_FILE: return Reason.notAFile
        case G_IO_ERROR_NOT_SUPPORTED, G_IO_ERROR_NOT_MOUNTED: return Reason.notSupported
        default: return Reason.failed(message)
        }
    }
}
