import Foundation
import HalcyonSystem

/// What looks at all entries. It goes in slices, so that reads come in between.
extension DiskCache {
    /// What the files may occupy together, in bytes.
    public var sizeLimit: Int {
        if let limit = configuration.sizeLimit ?? state.withLock({ $0.standardSizeLimit }) { return limit }
        // The cache's own files count as free: otherwise the limit would shrink as the cache grows.
        return standardSizeLimit(free: store.freeSpace())
    }

    /// A tenth of what is free, at most 1 GiB. Some file systems report more free space than there is, to any size.
    private func standardSizeLimit(free: Int?) -> Int {
        let (room, overflow) = max(0, free ?? .max).addingReportingOverflow(store.estimatedSize)
        return min(1 << 30, (overflow ? .max : room) / 10)
    }

    /// The length of all files together, as far as is known without looking. It is right once there was a scan and as
    /// long as no other process uses the folder; what others write is seen by the next scan, which a cache that writes
    /// makes five seconds after the last one.
    public var estimatedSize: Int { store.estimatedSize }

    /// The length of all files together, by a scan: a microsecond an entry. What is staged does not count yet.
    public func size() async -> Int {
        await scan().reduce(0) { $0 + $1.size }
    }

    /// How many entries there are on the disk, expired ones too, by a scan.
    public func count() async -> Int {
        await scan().count
    }

    /// What lies in the folder, by a scan.
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

    /// All entries on the disk but their bytes, in no particular order: reads the end of every file, a few
    /// microseconds an entry.
    public func entries() async -> [EntryInfo] {
        var entries: [EntryInfo] = []
        for slice in Self.slices(of: await scan(), by: Self.filesAtOnce) {
            entries += await performBehind { [store] in slice.compactMap { store.info($0.file) } }
        }
        return entries
    }

    /// Removes everything, staged or on the disk, and what is kept in the folder of downloads that broke off, which does
    /// not count in the answer. What others put into the folder stays.
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

    /// Removes what is staged, each together with the older entry of its key on the disk, so that nobody finds that instead.
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

    /// Removes the entries past their time, and what crashed processes have left half written.
    @discardableResult
    public func removeExpired() async -> Removal {
        await removeExpired(among: scan())
    }

    /// Removes entries until the rest occupies at most this many bytes: expired ones first, then those whose last
    /// access is the longest ago. One that is read meanwhile stays.
    @discardableResult
    public func trim(to bytes: Int) async -> Removal {
        await trim(scan(), to: bytes)
    }

    /// Puts the folder in order, as the cache does by itself every `sweepInterval`: removes the entries past their time and
    /// what crashed processes have left half written, and then, over the size limit, those that were not used for longest.
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

    /// Down to where a trim goes, so that the next write does not start another.
    private static func lowWaterMark(_ limit: Int) -> Int {
        limit / 5 * 4
    }

    private func removeExpired(among files: [ScannedFile]) async -> Removal {
        let now = FileTime(timeSource.now)
        return await remove(files.filter { $0.keptUntil <= now }, .expired) { _, status in status.modified <= now }
    }

    private func trim(_ files: [ScannedFile], to bytes: Int) async -> Removal {
        let victims = Self.victims(among: files, downTo: max(0, bytes), now: timeSource.now)
        return await remove(victims, .trimmed) { file, status in file.isUnchanged(status) }
    }

    /// Which files must go, and no more than must.
    private static func victims(among files: [ScannedFile], downTo bytes: Int, now: Date) -> [ScannedFile] {
        var excess = files.reduce(0) { $0 + $1.size } - bytes
        guard excess > 0 else { return [] }
        let time = FileTime(now)
        // An access in the future was noted by a clock that was wrong, and must not keep an entry for ever.
        let future = FileTime(now.addingTimeInterval(7200))
        // Numbers are sorted, not files: there may be very many.
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

    /// What goes first is less.
    private struct Rank {
        let isCurrent: Bool
        let accessed: FileTime
        let index: Int

        static func < (left: Rank, right: Rank) -> Bool {
            left.isCurrent == right.isCurrent ? left.accessed < right.accessed : !left.isCurrent
        }
    }

    // MARK: Behind

    /// Starts a trim when the limit is passed, or to learn what is there.
    func startTrimIfNeeded() {
        _ = trimming()
    }

    /// Trims to four fifths when the limit is passed, and returns when that is done.
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

    /// How long the first sweep waits behind the first write.
    private static var firstSweep: Duration { .seconds(60) }

    /// Starts to sweep by and by; does nothing where that is so already.
    func startSweeping() {
        guard let interval = configuration.sweepInterval.map({ max($0, .seconds(1)).forTimer }) else { return }
        state.withLock { state in
            guard state.sweeping == nil else { return }
            state.sweeping = RepeatingWork(every: min(interval, Self.firstSweep), timeSource: timeSource) {
                [weak self] in
                // It ends the work whose turn this is, which has had the only one it was to have.
                self?.repeatSweeping(every: interval)
                await self?.sweep()
            }
        }
    }

    private func repeatSweeping(every interval: Duration) {
        let former = state.withLock { state in
            let former = state.sweeping
            state.sweeping = RepeatingWork(every: interval, timeSource: timeSource) { [weak self] in
                await self?.sweep()
            }
            return former
        }
        withExtendedLifetime(former) {}
    }

    private func trimUntilWithinLimit() async {
        let (limit, now) = (sizeLimit, timeSource.now)
        // What a due scan has found serves the first trim too.
        var found: [ScannedFile]? = state.withLock({ $0.isScanDue(limit: limit, now: now) }) ? await scan() : nil
        while true {
            let limit = sizeLimit
            let isPassed = store.estimatedSize > limit
            var removed = 0
            if isPassed {
                var files = found.take() ?? []
                if files.isEmpty { files = await scan() }
                removed = await trim(files, to: Self.lowWaterMark(limit)).entries
            }
            let isDone = state.withLock { state in
                // A folder that nothing can be removed from must not keep this going for ever.
                guard store.estimatedSize <= limit || isPassed && removed == 0 else { return false }
                // Under the lock under which the next one is started: it is, by any write from now on.
                state.trimming = nil
                return true
            }
            if isDone { return }
        }
    }

    // MARK: Slices

    /// In a cache of 100,000 entries a folder has 400, and a reader that comes meanwhile waits for a millisecond.
    private static var foldersAtOnce: Int { 2 }
    private static var filesAtOnce: Int { 32 }

    private func scan() async -> [ScannedFile] {
        let now = timeSource.now
        var found: [ScannedFile] = []
        for start in stride(from: 0, to: 256, by: Self.foldersAtOnce) {
            found += await performBehind { [store] in
                store.scan(start..<start + Self.foldersAtOnce, now: now)
            }
        }
        let free = await performBehind { [store] in store.freeSpace() }
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
            let removed = await performBehind { [store] in
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

    private func performBehind<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            threads.submit(priority: .low) { continuation.resume(returning: body()) }
        }
    }
}

extension DiskCache.State {
    /// Whether it is time to look at what is there: at first, since nobody knows what earlier runs have left; and again
    /// after every thirty-second of the limit that was written, since other processes may be at it too.
    fileprivate func isScanDue(limit: Int, now: Date) -> Bool {
        guard let lastScan else { return statistics.writes > 0 }
        // Not too often, whatever is written; and a clock that was turned back is no reason to wait.
        return writtenSinceScan > limit / 32 && abs(now.timeIntervalSince(lastScan)) >= 5
    }
}
