import Foundation
import Glibc

/// An error that prevents an entry from being cached. None of them is a reason to fail a load.
public enum DiskCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file system or the user's quota is full.
    case noSpace(SystemCallError)
    /// The process has no permission to write in the folder.
    case denied(SystemCallError)
    /// The file system is read-only.
    case readOnly(SystemCallError)
    /// Any other failure, such as a broken disk.
    case failed(SystemCallError)
    /// The folder, or one above it, belongs to another user or is writable for others: it is neither read nor written. The
    /// text says which folder, and why. `DiskCache.Configuration.allowsForeignFolder` allows it.
    case foreignFolder(String)
    /// The entry alone is larger than the cache's limit, or its key or its metadata is larger than 4 GiB.
    case tooLarge

    public var description: String {
        switch self {
        case .noSpace(let error): "there is no room on the disk (\(error))"
        case .denied(let error): "the cache folder may not be written (\(error))"
        case .readOnly(let error): "the cache folder is on a read-only file system (\(error))"
        case .failed(let error): "the cache folder cannot be written (\(error))"
        case .foreignFolder(let reason): "the cache folder is not used: \(reason)"
        case .tooLarge: "the entry is larger than the cache may be"
        }
    }

    init(_ error: any Error) {
        guard let error = error as? SystemCallError else {
            self = error as? DiskCacheError ?? .failed(SystemCallError(.write, code: EIO))
            return
        }
        switch error.code {
        case ENOSPC, EDQUOT: self = .noSpace(error)
        case EACCES, EPERM: self = .denied(error)
        case EROFS: self = .readOnly(error)
        default: self = .failed(error)
        }
    }
}

extension DiskCacheError: LocalizedError {
    public var errorDescription: String? { description }

    /// A line about what the program or its user can do; nil if there is nothing to say.
    public var recoverySuggestion: String? {
        switch self {
        case .noSpace: "Free space on the disk, or lower DiskCache.sizeLimit."
        case .denied, .readOnly: "Choose another folder, or list it in DiskCache.Configuration.readOnlyFolders."
        case .foreignFolder: "Choose a folder of this user, or set DiskCache.Configuration.allowsForeignFolder."
        case .tooLarge: "Raise DiskCache.sizeLimit."
        case .failed: nil
        }
    }
}
