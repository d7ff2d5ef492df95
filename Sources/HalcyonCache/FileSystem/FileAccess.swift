/// What a file is opened for.
public enum FileAccess: Sendable, Hashable {
    /// An existing file, to be read. A symbolic link is not followed, a pipe not waited for, and the last access left
    /// as it is where the system permits.
    case reading
    /// A file that must not exist yet, to be written by its owner alone (0600).
    case creating
    /// A file to be written at its end and read, by one at a time: while it is open like this, nobody else opens it like
    /// this (EWOULDBLOCK), in another process neither. Made for its owner alone (0600) where it does not exist.
    case appending
    /// A file without a name in the folder at the path, to be written at its end and read: nobody else can open it, and it
    /// goes with its descriptor. Not every file system has such files.
    case nameless
}
