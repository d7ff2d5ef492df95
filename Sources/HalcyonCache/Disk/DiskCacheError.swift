import Glibc

/// An error that prevents an entry from being cached. None of them is a reason to fail a load.
public enum DiskCacheError: Error, Sendable, Hashable {
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
