import Foundation

extension EntryStore {
    /// A temporary file that nobody has touched for so many seconds belongs to a process that ended.
    private static var abandonedAfter: TimeInterval { 3600 }

    /// Lists the entries in some of the 256 folders, and removes temporary files that crashed processes have left there.
    /// A microsecond an entry.
    ///
    /// Only regular files named like ours count: what else somebody put there is none of our business.
    func scan(_ folders: Range<Int>, now: Date) -> [ScannedFile] {
        let abandoned = FileTime(now.addingTimeInterval(-Self.abandonedAfter))
        var found: [ScannedFile] = []
        for fanOut in folders.lazy.map({ UInt8(truncatingIfNeeded: $0) }) {
            let path = folder.fanOut(fanOut)
            var leftovers: [String] = []
            // Without the folder there are no entries in it.
            try? files.list(path) { fileName, status in
                guard status.kind == .regular else { return }
                if let name = EntryName(fileName: fileName), name.folder == fanOut {
                    found.append(ScannedFile(name: name, status: status))
                } else if CacheFolder.isTemporary(fileName), status.changed < abandoned {
                    // By the time of change: the other two may be set into the future already.
                    leftovers.append(fileName)
                }
            }
            for fileName in leftovers { try? files.unlink("\(path)/\(fileName)") }
        }
        return found
    }

    /// What may be written to the cache's file system; nil when it does not say.
    ///
    /// The folder may not exist yet, so this asks at the nearest one that does.
    func freeSpace() -> Int? {
        var path = folder.path
        while true {
            if let free = try? files.freeSpace(at: path) { return free }
            guard let slash = path.lastIndex(of: "/"), path.count > 1 else { return nil }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }
}
