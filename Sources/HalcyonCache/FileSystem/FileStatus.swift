/// What the file system tells of a file.
public struct FileStatus: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case regular, directory, other
    }

    public var kind: Kind
    /// Length in bytes.
    public var size: Int
    public var accessed: FileTime
    public var modified: FileTime
    /// When the file's state changed last, which no program can set.
    public var changed: FileTime
    /// Which file it is, whatever its name: another one under the same name has another.
    public var device: UInt64
    public var inode: UInt64
    /// The user that it belongs to; nil where the file system knows of none, as by default.
    public var owner: UInt32?
    /// The group that it belongs to; nil where the file system knows of none, as by default.
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
