/// The versions that were written under one key by several threads, and those of them that a read may return.
///
/// A version may be read from the moment its write begins until another write, begun after this one had ended, has
/// ended. Version 0 stands for the lack of an entry; a remove writes it.
struct ModelHistory {
    private struct Write {
        var running = 0
        /// The latest end of a write of this version.
        var end = -1
    }

    private var writes = [0: Write(running: 0, end: 0)]
    /// The latest beginning among the writes that have ended.
    private var latestBegin = 0

    mutating func begin(_ version: Int) {
        writes[version, default: Write()].running += 1
    }

    /// - Parameters:
    ///   - begin: the moment the write began.
    ///   - moment: now; no two moments are the same.
    mutating func end(_ version: Int, begun begin: Int, at moment: Int) {
        writes[version, default: Write()].running -= 1
        writes[version, default: Write()].end = moment
        latestBegin = max(latestBegin, begin)
    }

    /// A write of a version of its own did not take place, and no read may ever have returned the version.
    mutating func cancel(_ version: Int) {
        writes[version] = nil
    }

    /// Taken when a read begins: what ended before it cannot come back.
    var mark: Int { latestBegin }

    /// Whether a read that began at this mark may give this version now.
    func mayBeRead(_ version: Int, since mark: Int) -> Bool {
        guard let write = writes[version] else { return false }
        return write.running > 0 || write.end >= mark
    }
}
