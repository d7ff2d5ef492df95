import CGTK
import Foundation
import Halcyon

/// The error of a resource or a GIO file that cannot be read. A load fails with `ImagePipelineError.badSource`, with this
/// error as its `underlying`.
public struct GIOImageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason of the failure.
    public enum Reason: Error, Hashable, Sendable {
        /// There is no such file or resource.
        case notFound
        /// The user may not read it.
        case notPermitted
        /// It is a folder.
        case isFolder
        /// A pipe, a device or a mount point: reading it might never end.
        case notAFile
        /// It has more bytes than the limit.
        case tooLarge(limit: Int)
        /// Nothing on this system reads URIs of this scheme, or the volume is not mounted.
        case notSupported
        /// Any other failure, with GIO's message.
        case failed(String)
    }

    /// The URI that could not be read, without user name and password.
    public let source: String
    /// The reason of the failure.
    public let reason: Reason

    /// The text of the reason, without the source.
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

    /// Returns the `Reason` for a `GError`, or `CancellationError`.
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

extension GIOImageError: LocalizedError {
    public var errorDescription: String? { description }
}
