import Foundation

/// The status of a file, as the file system reports it.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case regular, directory, other
    }

    package var kind: Kind
    /// The length in bytes.
    package var size: Int
    package var accessed: FileTime
    package var modified: FileTime
    /// The time of the last change of the file's state (`ctime`), which no program can set.
    package var changed: FileTime
    /// The device and the inode, which together identify a file independently of its name: another file under the same name
    /// differs in them.
    package var device: UInt64
    package var inode: UInt64
    /// The user that owns the file; nil, the default, if the file system does not report one.
    package var owner: UInt32?
    /// The group that owns the file; nil, the default, if the file system does not report one.
    package var group: UInt32?
    /// The lowest twelve bits of the POSIX mode. 0600 by default.
    package var permissions: UInt16

    package init(
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

/// A time as file systems keep it: seconds since 1970 and nanoseconds, exact where a `Date` is not.
package struct FileTime: Sendable, Hashable, Comparable {
    package var seconds: Int
    package var nanoseconds: Int

    package init(seconds: Int, nanoseconds: Int = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Creates the time of a date, clamped to the years that every file system can represent: 1970 through 2099.
    package init(_ date: Date) {
        let interval = date.timeIntervalSince1970
        guard interval > 0 else {
            self.init(seconds: 0)
            return
        }
        guard interval < TimeInterval(FileTime.latest.seconds) else {
            self = .latest
            return
        }
        let whole = interval.rounded(.down)
        self.init(seconds: Int(whole), nanoseconds: min(999_999_999, Int((interval - whole) * 1e9)))
    }

    /// The end of the year 2099. It stands for "never": an entry that is kept until then is kept forever.
    package static let latest = FileTime(seconds: 4_102_444_799)

    package var date: Date {
        Date(timeIntervalSince1970: TimeInterval(seconds) + TimeInterval(nanoseconds) * 1e-9)
    }

    /// Returns whether `FileTime(date) < self`, in most cases without converting the date.
    func isAfter(_ date: Date) -> Bool {
        // The seconds of `FileTime(date)` are those of the date, rounded down, or 0 if they are negative.
        if seconds > 0, date.timeIntervalSince1970 < TimeInterval(seconds) { return true }
        return FileTime(date) < self
    }

    package static func < (left: FileTime, right: FileTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}
