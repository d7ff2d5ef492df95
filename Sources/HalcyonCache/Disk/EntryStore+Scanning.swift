import Foundation

extension EntryStore {
    /// The seconds without a change after which a temporary file is taken for that of a process that has ended.
    private static var abandonedAfter: TimeInterval { 3600 }

    /// Lists the entries in some of the 256 folders, and removes temporary files that crashed processes have left there.
    /// Takes a microsecond an entry.
    ///
    /// Only regular files of the cache count, recognized by their name or by their footer, whatever the settings were when
    /// they were written. Other files in the folder are ignored.
    func scan(_ folders: Range<Int>, now: Date) -> [ScannedFile] {
        let abandoned = FileTime(now.addingTimeInterval(-Self.abandonedAfter))
        return folders.flatMap { scan(UInt8(truncatingIfNeeded: $0), removingTemporariesBefore: abandoned) }
    }

    /// Lists one folder and updates its size.
    private func scan(_ fanOut: UInt8, removingTemporariesBefore abandoned: FileTime) -> [ScannedFile] {
        // Without the lock, since listing a folder that is not in the system's cache takes long. If a file appeared or
        // vanished meanwhile, the sum is unreliable and the next attempt will probably be undisturbed; the last attempt
        // holds the lock.
        for _ in 0..<3 {
            let changes = names.withLock { $0.changes(in: fanOut) }
            let found = list(fanOut, removingTemporariesBefore: abandoned)
            let isUndisturbed = names.withLock { sizes in
                guard sizes.changes(in: fanOut) == changes else { return false }
                setSize(of: fanOut, found, in: &sizes)
                return true
            }
            if isUndisturbed { return found }
        }
        return names.withLock { sizes in
            let found = list(fanOut, removingTemporariesBefore: abandoned)
            setSize(of: fanOut, found, in: &sizes)
            return found
        }
    }

    private func setSize(of fanOut: UInt8, _ found: [ScannedFile], in sizes: inout FolderSizes) {
        sizes.set(fanOut, to: found.reduce(0) { $0 + $1.size })
        sizesChanged(sizes)
    }

    private func list(_ fanOut: UInt8, removingTemporariesBefore abandoned: FileTime) -> [ScannedFile] {
        guard mayUseFolder() else { return [] }
        let path = folder.fanOut(fanOut)
        var found: [ScannedFile] = []
        var leftovers: [String] = []
        var doubtful: [(fileName: String, status: FileStatus)] = []
        // If the folder does not exist, there are no entries in it.
        try? files.list(path) { fileName, status in
            guard status.kind == .regular else { return }
            if let file = EntryFile(name: fileName, in: fanOut) {
                found.append(ScannedFile(file, status))
            } else if CacheFolder.isTemporary(fileName), status.changed < abandoned {
                // By the time of change, since the other two may have been set into the future already.
                leftovers.append(fileName)
            } else if !fileName.hasPrefix("."), Self.canBeEntry(status) {
                doubtful.append((fileName, status))
            }
        }
        for fileName in leftovers { try? files.unlink("\(path)/\(fileName)") }
        for (fileName, status) in doubtful where endsAsEntry("\(path)/\(fileName)") {
            found.append(ScannedFile(.named(fileName, folder: fanOut), status))
        }
        return found
    }

    // MARK: The last sweep

    /// Returns whether the folder is there and no process has removed its expired entries within so many seconds, which is the
    /// time since its tag was modified.
    func isSweepDue(after interval: Double, now: Date) -> Bool {
        guard mayUseFolder(), (try? files.status(at: folder.path)) != nil else { return false }
        guard let tag = try? files.status(at: folder.tag), tag.kind == .regular else { return true }
        // A clock that was turned back must not put it off.
        return abs(now.timeIntervalSince(tag.modified.date)) >= interval
    }

    /// Notes that the expired entries have been removed. Without a tag, or on a file system that cannot be written to, nothing is
    /// noted: the next program only sweeps once more.
    func noteSweep(at time: FileTime) {
        guard mayUseFolder(), let tag = try? files.open(folder.tag, for: .reading) else { return }
        if let status = try? files.status(of: tag), status.kind == .regular, isOwn(status) {
            try? files.setTimes(of: tag, accessed: time, modified: time)
        }
        try? files.close(tag)
    }

    /// Returns the free space on the cache's file system in bytes; nil if the file system does not report it.
    ///
    /// The folder may not exist yet, so the query is for its nearest ancestor that does.
    func freeSpace() -> Int? {
        var path = folder.path
        while true {
            if let free = try? files.freeSpace(at: path) { return free }
            guard let slash = path.lastIndex(of: "/"), path.count > 1 else { return nil }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }
}

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
