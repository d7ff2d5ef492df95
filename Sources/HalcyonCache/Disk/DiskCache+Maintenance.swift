import Foundation
import HalcyonSystem

/// The operations that visit all entries. They work in slices, so that reads can run in between.
extension DiskCache {
    /// The total length of all files in bytes, as far as known without a scan. It is exact after a scan and as long as no
    /// other process uses the folder. The next scan notices the writes of other processes; it comes once this cache has
    /// written a thirty-second of its limit, but at least five seconds after the last scan.
    public var estimatedSize: Int { store.estimatedSize }

    /// Returns the total length of all files in bytes, by a scan: a microsecond an entry. Staged writes are not included.
    public func size() async -> Int {
        await scan().reduce(0) { $0 + $1.size }
    }

    /// Returns the number of entries on the disk, including expired ones, by a scan.
    public func count() async -> Int {
        await scan().count
    }

    /// Returns a summary of the folder's contents, by a scan.
    public func info() async -> Info {
        let now = FileTime(timeSource.now)
        var info = Info(folder: folder, entries: 0, bytes: 0, expired: 0, oldest: nil)
        var oldest: FileTime?
        for file in await scan() {
            info.entries += 1
            info.bytes += file.size
            if file.keptUntil <= now { info.expired += 1 }
            oldest = min(oldest ?? file.accessed, file.accessed)
        }
        info.oldest = oldest?.date
        return info
    }

    /// Returns all entries on the disk without their bytes, in no particular order. Reads the end of every file, a few
    /// microseconds an entry.
    public func entries() async -> [EntryInfo] {
        var entries: [EntryInfo] = []
        for slice in Self.slices(of: await scan(), by: Self.filesAtOnce) {
            entries += await performInBackground { [store] in slice.compactMap { store.info($0.file) } }
        }
        return entries
    }

    /// Removes all entries, staged or on the disk, and the partial bodies of interrupted downloads in the folder, which are
    /// not counted in the result. Files that other programs put into the folder stay.
    @discardableResult
    public func removeAll() async -> Removal {
        var removal = await perform { [self] in removeStaged() }
        let files = await scan()
        let others = await remove(files, .removedAll) { _, _ in true }
        removal.entries += others.entries
        removal.bytes += others.bytes
        await removePartialBodies()
        return removal
    }

    /// Removes the staged writes, each together with the older entry of its key on the disk, so that no read finds that one
    /// instead.
    private func removeStaged() -> Removal {
        var removal = Removal()
        for key in staging.keys {
            let entry = store.file(for: key)
            guard let size = store.remove(entry, alsoThen: { staging.drop(key) }) else { continue }
            removal.entries += 1
            removal.bytes += size
            store.removals.report(.removedAll, bytes: size) { [entry.fileName] }
        }
        staging.admitWaiting { writeBehind() }
        return removal
    }

    /// Removes the expired entries, and the partly written files of crashed processes.
    @discardableResult
    public func removeExpired() async -> Removal {
        await removeExpired(among: scan())
    }

    /// Removes entries until the total size is at most this many bytes: expired ones first, then the least recently used.
    /// An entry that is read during this stays.
    @discardableResult
    public func trim(to bytes: Int) async -> Removal {
        await trim(scan(), to: bytes)
    }

    /// Cleans the folder, as the cache does itself every `sweepInterval`: removes the expired entries and the partly
    /// written files of crashed processes, and then, if the size limit is exceeded, the least recently used entries.
    @discardableResult
    public func sweep() async -> Removal {
        let files = await scan()
        var removal = await removeExpired(among: files)
        let limit = sizeLimit
        guard store.estimatedSize > limit else { return removal }
        let now = FileTime(timeSource.now)
        let trimmed = await trim(files.filter { $0.keptUntil > now }, to: Self.lowWaterMark(limit))
        removal.entries += trimmed.entries
        removal.bytes += trimmed.bytes
        return removal
    }

    /// Returns the size that a trim reduces the cache to, below the limit so that the next write does not start another
    /// trim.
    private static func lowWaterMark(_ limit: Int) -> Int {
        limit / 5 * 4
    }

    private func removeExpired(among files: [ScannedFile]) async -> Removal {
        let now = FileTime(timeSource.now)
        let removal = await remove(files.filter { $0.keptUntil <= now }, .expired) { _, status in
            status.modified <= now
        }
        await performInBackground { [store] in store.noteSweep(at: now) }
        return removal
    }

    private func trim(_ files: [ScannedFile], to bytes: Int) async -> Removal {
        let victims = Self.victims(among: files, downTo: max(0, bytes), now: timeSource.now)
        return await remove(victims, .trimmed) { file, status in file.isUnchanged(status) }
    }

    /// Returns the files that must be removed, and no more than necessary.
    private static func victims(among files: [ScannedFile], downTo bytes: Int, now: Date) -> [ScannedFile] {
        var excess = files.reduce(0) { $0 + $1.size } - bytes
        guard excess > 0 else { return [] }
        let time = FileTime(now)
        // An access in the future was recorded with a wrong clock, and must not keep an entry forever.
        let future = FileTime(now.addingTimeInterval(7200))
        // Small ranks are sorted, not files, since there may be very many.
        let ranks = files.indices.map { index in
            let file = files[index]
            return Rank(
                isCurrent: file.keptUntil > time,
                accessed: file.accessed > future ? FileTime(seconds: 0) : file.accessed,
                index: index)
        }
        var victims: [ScannedFile] = []
        for rank in ranks.sorted(by: <) {
            guard excess > 0 else { break }
            victims.append(files[rank.index])
            excess -= files[rank.index].size
        }
        return victims
    }

    /// The rank of a file; the lowest is removed first.
    private struct Rank {
        let isCurrent: Bool
        let accessed: FileTime
        let index: Int

        static func < (left: Rank, right: Rank) -> Bool {
            left.isCurrent == right.isCurrent ? left.accessed < right.accessed : !left.isCurrent
        }
    }

    // MARK: Background work

    /// Starts a trim if the size limit is exceeded or a scan is due.
    func startTrimIfNeeded() {
        _ = trimming()
    }

    /// Trims to four fifths of the limit if it is exceeded, and returns when that is done.
    func trimIfNeeded() async {
        await trimming()?.value
    }

    private func trimming() -> Task<Void, Never>? {
        let limit = sizeLimit
        let now = timeSource.now
        return state.withLock { state in
            if let running = state.trimming { return running }
            guard store.estimatedSize > limit || state.isScanDue(limit: limit, now: now) else { return nil }
            let task = Task.detached(priority: .low) { [self] in await trimUntilWithinLimit() }
            state.trimming = task
            return task
        }
    }

    private func trimUntilWithinLimit() async {
        while true {
            let (limit, now) = (sizeLimit, timeSource.now)
            let isScanDue = state.withLock { state in
                let isDue = state.isScanDue(limit: limit, now: now)
                state.isTrimRequested = false
                return isDue
            }
            // A trim uses the files that a due scan has found.
            var files: [ScannedFile]? = isScanDue ? await scan() : nil
            let isPassed = store.estimatedSize > limit
            var removed = 0
            if isPassed {
                if files == nil { files = await scan() }
                removed = await trim(files ?? [], to: Self.lowWaterMark(limit)).entries
            }
            let isDone = state.withLock { state in
                guard !state.isTrimRequested else { return false }
                // If nothing can be removed from the folder, this must not continue forever.
                guard store.estimatedSize <= limit || isPassed && removed == 0 else { return false }
                // Cleared under the lock under which the next trim is started, so that any later write can start one.
                state.trimming = nil
                return true
            }
            if isDone { return }
        }
    }

    // MARK: Slices

    /// In a cache of 100,000 entries a folder has 400, so that a read that arrives meanwhile waits for a millisecond.
    private static var foldersAtOnce: Int { 2 }
    private static var filesAtOnce: Int { 32 }

    private func scan() async -> [ScannedFile] {
        let now = timeSource.now
        var found: [ScannedFile] = []
        for start in stride(from: 0, to: 256, by: Self.foldersAtOnce) {
            found += await performInBackground { [store] in
                store.scan(start..<start + Self.foldersAtOnce, now: now)
            }
        }
        let free = await performInBackground { [store] in store.freeSpace() }
        let end = timeSource.now
        state.withLock { state in
            state.lastScan = end
            state.writtenSinceScan = 0
            state.standardSizeLimit = standardSizeLimit(free: free)
        }
        return found
    }

    private func remove(
        _ files: [ScannedFile], _ reason: RemovalEvent.Reason,
        if isIt: @escaping @Sendable (ScannedFile, FileStatus) -> Bool
    ) async -> Removal {
        var removal = Removal()
        for slice in Self.slices(of: files, by: Self.filesAtOnce) {
            let removed = await performInBackground { [store] in
                let removed = slice.compactMap { file in
                    store.remove(file.file, ifStill: { $0.kind == .regular && isIt(file, $0) }).map { (file.file, $0) }
                }
                let bytes = removed.reduce(0) { $0 + $1.1 }
                if !removed.isEmpty { store.removals.report(reason, bytes: bytes) { removed.map(\.0.fileName) } }
                return (entries: removed.count, bytes: bytes)
            }
            removal.entries += removed.entries
            removal.bytes += removed.bytes
        }
        return removal
    }

    private static func slices(of files: [ScannedFile], by size: Int) -> [ArraySlice<ScannedFile>] {
        stride(from: 0, to: files.count, by: size).map { files[$0..<min($0 + size, files.count)] }
    }

    func performInBackground<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            threads.submit(priority: .low) { continuation.resume(returning: body()) }
        }
    }
}

extension DiskCache.State {
    /// Returns whether a scan is due: after the limit was lowered; at first, since the remains of earlier runs are
    /// unknown; and again after every thirty-second of the limit that was written, since other processes may write too.
    fileprivate func isScanDue(limit: Int, now: Date) -> Bool {
        if isTrimRequested { return true }
        guard let lastScan else { return statistics.writes > 0 }
        // Not more often than every five seconds, no matter how much is written; a clock that was turned back must not
        // delay it.
        return writtenSinceScan > limit / 32 && abs(now.timeIntervalSince(lastScan)) >= 5
    }
}
