import Glibc

/// Why an entry is not cached. None of them is a reason to fail a load.
public enum DiskCacheError: Error, Sendable, Hashable {
    /// The file system or the user's quota is full.
    case noSpace(SystemCallError)
    /// The folder is not ours to write in.
    case denied(SystemCallError)
    /// The file system is read-only.
    case readOnly(SystemCallError)
    /// Any other failure, such as a broken disk.
    case failed(SystemCallError)
    /// The folder, or one above it, is in the hands of another user: it is neither read nor written. The text says which
    /// and why. `DiskCache.Configuration.allowsForeignFolder` allows it.
    case foreignFolder(String)
    /// The entry alone is larger than the cache may be, or its key or metadata than 4 GiB.
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
