/// An entry's file as a scan found it: small, since there may be a million of them.
struct ScannedFile: Sendable {
    let file: EntryFile
    let size: Int
    let accessed: FileTime
    let keptUntil: FileTime
    let device: UInt64
    let inode: UInt64

    init(_ file: EntryFile, _ status: FileStatus) {
        self.file = file
        size = status.size
        accessed = status.accessed
        keptUntil = status.modified
        device = status.device
        inode = status.inode
    }

    /// Returns whether it is still the same file, and has not been read since the scan.
    func isUnchanged(_ status: FileStatus) -> Bool {
        status.inode == inode && status.device == device && status.accessed == accessed
    }
}
