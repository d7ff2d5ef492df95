/// The status of a file, as the file system reports it.
public struct FileStatus: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case regular, directory, other
    }

    public var kind: Kind
    /// The length in bytes.
    public var size: Int
    public var accessed: FileTime
    public var modified: FileTime
    /// The time of the last change of the file's state (`ctime`), which no program can set.
    public var changed: FileTime
    /// The device and the inode, which together identify a file independently of its name: another file under the same name
    /// differs in them.
    public var device: UInt64
    public var inode: UInt64
    /// The user that owns the file; nil, the default, if the file system does not report one.
    public var owner: UInt32?
    /// The group that owns the file; nil, the default, if the file system does not report one.
    public var group: UInt32?
    /// The lowest twelve bits of the POSIX mode. 0600 by default.
    public var permissions: UInt16

    public init(
        kind: Kind, size: Int, accessed: FileTime, modified: FileTime, changed: FileTime, device: UInt64, inode: UInt64,
        owner: UInt32? = nil, group: UInt32? = nil, permissions: UInt16 = 0o600
    ) {
        self.kind = kind
        self.size = size
        self.accessed = accessed
        self.modified = modified
        self.changed = changed
        self.device = device
        self.inode = inode
        self.owner = owner
        self.group = group
        self.permissions = permissions
    }

    func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }
}
