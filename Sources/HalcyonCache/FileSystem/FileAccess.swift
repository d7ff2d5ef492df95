/// The purpose for which a file is opened.
public enum FileAccess: Sendable, Hashable {
    /// Reading an existing file. Symbolic links are not followed, opening a pipe does not wait for a writer, and the time
    /// of the last access is left unchanged if the system permits it.
    case reading
    /// Writing a file that must not exist yet, with access for its owner only (0600).
    case creating
    /// Appending to a file and reading it, exclusively: while it is open like this, opening it like this again fails with
    /// EWOULDBLOCK, also in another process. It is created with access for its owner only (0600) if it does not exist.
    case appending
    /// Appending to and reading a file without a name in the folder at the path: it cannot be opened again, and is deleted
    /// when its descriptor is closed. Not every file system supports such files.
    case nameless
}
