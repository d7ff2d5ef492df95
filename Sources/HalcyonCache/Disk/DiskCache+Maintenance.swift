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
        for slice in Self.slices(of: await scan(), by: 64) {
            entries += await performBehind { [store] in slice.compactMap { store.info($0.name) } }
        }
        return entries
    }

    /// Removes everything, staged or on the disk. What others put into the folder stays.
    @discardableResult
    public func removeAll() async -> Removal {
        await perform { [self] in store.names.withLock { _ in staging.dropAll() } }
        staging.admitWaiting { writeBehind() }
        let files = await scan()
        return await remove(files) { _, _ in true }
    }

    /// Removes the entries past their time, and what crashed processes have left half written.
    @discardableResult
    public func removeExpired() async -> Removal {
        let now = FileTime(timeSource.now)
        let files = await scan()
        return await remove(files.filter { $0.keptUntil <= now }) { _, status in status.modified <= now }
    }

    /// Removes entries until the rest occupies at most this many bytes: expired ones first, then those whose last
    /// access is the longest ago. One that is read meanwhile stays.
    @discardableResult
    public func trim(to bytes: Int) async -> Removal {
        let files = await scan()
        let now = timeSource.now
        let victims = Self.victims(among: files, downTo: bytes, now: now)
        return await remove(victims) { file, status in file.isUnchanged(status) }
    }

    /// Which files must go, and no more than must.
    private static func victims(among files: [ScannedFile], downTo bytes: Int, now: Date) -> [ScannedFile] {
        var excess = files.reduce(0) { $0 + $1.size } - bytes
        guard excess > 0 else { return [] }
        let time = FileTime(now)
        // An access in the future was noted by a clock that was wrong, and must not keep an entry for ever.
        let future = FileTime(now.addingTimeInterval(7200))
        func rank(_ file: ScannedFile) -> (Int, FileTime) {
            (file.keptUntil <= time ? 0 : 1, file.accessed > future ? FileTime(seconds: 0) : file.accessed)
        }
        var victims: [ScannedFile] = []
        for file in files.sorted(by: { rank($0) < rank($1) }) {
            guard excess > 0 else { break }
            victims.append(file)
            excess -= file.size
        }
        return victims
    }

    // MARK: Behind

    /// A cache that writes looks this often, in seconds, at what other processes have written to the folder.
    private static var scanInterval: TimeInterval { 5 }

    /// Whether it is not known, or not any more, what lies there.
    private static func isScanDue(_ state: State, now: Date) -> Bool {
        guard let last = state.lastScan else { return true }
        // A clock that was turned back must not put it off.
        return abs(now.timeIntervalSince(last)) >= scanInterval
    }

    /// Starts a trim when the limit is passed, or to learn what is there.
    func startTrimIfNeeded() {
        _ = trimming()
    }

    /// Trims to four fifths when the limit is passed, and returns when that is done.
    func trimIfNeeded() async {
        await trimming()?.value
    }

    private func trimming() -> Task<Void, Never>? {
        let (limit, now) = (sizeLimit, timeSource.now)
        return state.withLock { state in
            if let running = state.trimming { return running }
            guard store.estimatedSize > limit || state.statistics.writes > 0 && Self.isScanDue(state, now: now) else {
                return nil
            }
            let task = Task.detached(priority: .low) { [self] in await trimUntilWithinLimit() }
            state.trimming = task
            return task
        }
    }

    private func trimUntilWithinLimit() async {
        // The first time, nobody knows what earlier runs have left; later, what other processes have written.
        let now = timeSource.now
        if state.withLock({ Self.isScanDue($0, now: now) }) { _ = await scan() }
        while true {
            let limit = sizeLimit
            let isPassed = store.estimatedSize > limit
            let removed = isPassed ? await trim(to: limit / 5 * 4).entries : 0
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

    private func scan() async -> [ScannedFile] {
        let now = timeSource.now
        var found: [ScannedFile] = []
        for start in stride(from: 0, to: 256, by: 32) {
            found += await performBehind { [store] in
                store.scan(start..<start + 32, now: now)
            }
        }
        let free = await performBehind { [store] in store.freeSpace() }
        let end = timeSource.now
        state.withLock { state in
            state.lastScan = end
            state.standardSizeLimit = standardSizeLimit(free: free)
        }
        return found
    }

    private func remove(
        _ files: [ScannedFile], if isIt: @escaping @Sendable (ScannedFile, FileStatus) -> Bool
    ) async -> Removal {
        var removal = Removal()
        for slice in Self.slices(of: files, by: 64) {
            let removed = await performBehind { [store] in
                slice.compactMap { file in
                    store.remove(file.name, ifStill: { $0.kind == .regular && isIt(file, $0) })
                }
            }
            removal.entries += removed.count
            removal.bytes += removed.reduce(0, +)
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
