import Glibc

/// An error of a call to the file system.
public struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call that failed.
    public let operation: FileOperation
    /// The system's error number, such as `ENOSPC`.
    public let code: Int32

    public init(_ operation: FileOperation, code: Int32) {
        self.operation = operation
        self.code = code
    }

    public var description: String {
        "\(operation.rawValue): \(String(cString: strerror(code)))"
    }
}
