import Foundation

/// The same operations on the caller's thread, which is blocked until the disk has finished.
extension DiskCache {
    /// Returns the entry for a key; nil if there is none or it has expired. Records the access.
    ///
    /// - Parameter extending: the effect of the access on the entry's expiration; nil, the default, is the configuration's.
    public func entrySynchronously(for key: CacheKey, extending: ExpirationExtension? = nil) -> CacheEntry? {
        if let write = staging.write(for: key) { return entry(staged: write) }
        return entryOnDisk(for: key, extending: extending)
    }

    /// Returns whether there is an entry, in the same way as `contains`.
    public func containsSynchronously(_ key: CacheKey) -> Bool {
        if !staging.isIdle, let write = staging.write(for: key) { return isCurrent(write.contents) }
        return store.contains(key) { timeSource.roughly }
    }

    /// Writes an entry.
    ///
    /// - Parameter expiration: nil takes the configuration's. If it has passed already, nothing is written.
    /// - Throws: `DiskCacheError` if the entry could not be written.
    public func storeSynchronously(
        _ data: Data, metadata: Data = Data(), extended: Data = Data(), for key: CacheKey,
        expiration: StorageExpiration? = nil
    ) throws(DiskCacheError) {
        guard let contents = contents(data, metadata, extended, expiration) else { return }
        let mark = staging.mark
        // This entry is newer than the writes staged before it, and replaces them in the same moment; or neither is kept.
        defer { staging.admitWaiting { writeBehind() } }
        _ = try written(contents.fileSize(for: key)) {
            try store.replace(
                key, with: contents, atMost: sizeLimit, onceWritten: { staging.drop(key) },
                onceFailed: { staging.drop(key, upTo: mark) })
        }
    }

    /// Removes an entry, staged or on the disk, but not in a read-only folder.
    public func removeSynchronously(_ key: CacheKey) {
        // Under the lock under which a staged write gets its file name: the write either has been renamed and is removed,
        // or finds that it is not wanted any more.
        store.remove(store.file(for: key), alsoThen: { staging.drop(key) })
        staging.admitWaiting { writeBehind() }
    }
}

extension DiskCache {
    func contents(
        _ data: Data, _ metadata: Data, _ extended: Data, _ expiration: StorageExpiration?
    ) -> EntryContents? {
        EntryContents(
            data: data, metadata: metadata, extended: extended, expiration: expiration ?? self.expiration,
            now: timeSource.now)
    }

    func isCurrent(_ contents: EntryContents) -> Bool {
        FileTime(timeSource.now) < contents.keptUntil
    }

    /// Returns the entry of a staged write and counts the read. An expired write is a miss: the entry on the disk is even
    /// older.
    func entry(staged write: StagingArea.Write) -> CacheEntry? {
        let isCurrent = isCurrent(write.contents)
        countRead(isHit: isCurrent)
        return isCurrent ? write.contents.entry() : nil
    }

    /// Returns the entry on the disk without counting the read or recording the access.
    func peekOnDisk(for key: CacheKey) -> CacheEntry? {
        store.read(key, now: timeSource.now, extending: nil)?.entry
    }

    func entryOnDisk(for key: CacheKey, extending: ExpirationExtension? = nil) -> CacheEntry? {
        let found = store.read(key, now: timeSource.now, extending: extending ?? accessExtension)
        countRead(isHit: found != nil)
        return found?.entry
    }

    /// Returns an entry that can be read without waiting for a disk, and counts the read; nil also if that cannot be told.
    func entryInMemory(for key: CacheKey, extending: ExpirationExtension?) -> CacheEntry? {
        let found = store.readCached(key, now: timeSource.now, extending: extending ?? accessExtension)
        guard let found else { return nil }
        countRead(isHit: true)
        return found.entry
    }

    /// Counts a read, and starts the sweeps with the first one.
    private func countRead(isHit: Bool) {
        let isFirst = state.withLock { state in
            if isHit { state.statistics.hits += 1 } else { state.statistics.misses += 1 }
            return !state.isInUse
        }
        if isFirst { startSweeping() }
    }

    /// Counts a write, and starts a trim after it if the size limit is exceeded.
    func written(_ bytes: Int, _ write: () throws -> Bool) throws(DiskCacheError) -> Bool {
        do {
            let isWritten = try write()
            if isWritten {
                state.withLock { state in
                    state.statistics.writes += 1
                    state.writtenSinceScan += bytes
                }
                startTrimIfNeeded()
                startSweeping()
            }
            return isWritten
        } catch {
            let error = DiskCacheError(error)
            state.withLock { state in
                state.statistics.failedWrites += 1
                state.statistics.lastWriteError = error
            }
            throw error
        }
    }

    /// Writes the staged entries, one at a time, so that reads can run in between.
    func writeBehind() {
        threads.submit(priority: .low) { [self] in
            guard let write = staging.next() else { return }
            // A failure is counted; no caller waits for it.
            _ = try? written(write.cost) {
                try store.replace(
                    write.key, with: write.contents, atMost: sizeLimit, ifWanted: { staging.isInFlightWanted })
            }
            staging.finishInFlight { [self] in writeBehind() }
            writeBehind()
        }
    }

    /// Runs blocking work on the cache's threads, whether or not the task is cancelled.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            threads.submit { continuation.resume(returning: body()) }
        }
    }
}
